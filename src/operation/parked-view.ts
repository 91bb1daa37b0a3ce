/** What a session waits for before anything can be begun in it, as every surface shows it. */
import * as z from "zod/mini";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Parked } from "../fleet/parked.ts";
import { type Evidence, SOURCES } from "../session/session.ts";
import { instant, text, yesOrNo, whenUsed } from "./field.ts";

export const limitConfidence = z
  .enum(["stated", "derived", "none"])
  .check(
    z.describe(
      "How sure the moment is. stated: the vendor gave it. derived: taken from a text or the length of a window. none: nobody said, so Reeve tries again after a while.",
    ),
  );

export const parkedSchema = whenUsed(() =>
  z
    .object({
      account: text("The account: the agent, and its id of the account."),
      limit: text("The vendor's name of the limit, or `unnamed`."),
      since: instant("Since when it is reached."),
      until: instant("When one session tries again; the others follow if it gets an answer."),
      confidence: limitConfidence,
      source: z.enum(SOURCES).check(z.describe("Who reported it.")),
      reason: text("Why, in a sentence."),
      waiting: yesOrNo(
        "Whether something of this session waits: its start, a message, or a turn that a limit stopped.",
      ),
    })
    .register(z.globalRegistry, {
      id: "Parked",
      description: "A usage limit of the vendor that must reset before the session can go on.",
    }),
);

export function viewParked(parked: Parked, iso: (at: number) => string): z.infer<typeof parkedSchema> {
  const { account, limit, gate, confidence, source } = parked.quota;
  return {
    account: stripTerminal(account),
    limit: stripTerminal(limit),
    since: iso(gate.sinceAt),
    until: iso(gate.dueAt),
    confidence,
    source,
    reason: parkedSentence(parked),
    waiting: parked.hasWork,
  };
}

/** Why it is parked, if something of it waits: what its health is judged by. */
export function parkedEvidence(parked: Parked | null): Evidence | null {
  if (parked === null || !parked.hasWork) return null;
  const { source, gate } = parked.quota;
  return { source, detail: parked.text, at: gate.sinceAt };
}

/** "Waits until 08:03 UTC: the limit requests of codex work is reached." */
export function parkedSentence(parked: Parked | null): string {
  return parked === null ? "" : stripTerminal(parked.sentence);
}
