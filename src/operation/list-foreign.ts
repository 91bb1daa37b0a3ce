/** Agents of this user that Reeve did not start, read-only, each with how to bring it under Reeve's care. */
import * as z from "zod/mini";
import { shellQuote } from "../platform/shell-quote.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Foreign } from "../supervisor/launch/foreign-agents.ts";
import { defineOperation } from "./contract.ts";
import { text, textOrNull, whenUsed } from "./field.ts";
import { activityStatus } from "./session-view.ts";

const foreignSchema = whenUsed(() =>
  z
    .object({
      agent: text("The agent."),
      held_by: z
        .enum(["process", "daemon"])
        .check(z.describe("Who has it open: a process of its own, or the vendor's daemon.")),
      pid: z.nullable(z.int()).check(z.describe("That process; null where it is not known.")),
      native_id: textOrNull("The agent's own id of the conversation; null where it is not known."),
      cwd: textOrNull("The directory it works in; null where it is not known."),
      activity: activityStatus.check(z.describe("What it is doing, as far as the agent tells.")),
      asks: textOrNull("What it asks; null where it asks nothing, or that is not known."),
      evidence: text("How that is known."),
      advice: text("How to continue it in Reeve, in a sentence."),
    })
    .register(z.globalRegistry, {
      id: "Foreign",
      description: "An agent of yours that Reeve did not start. Reeve only looks at it.",
    }),
);

export type ForeignView = z.infer<typeof foreignSchema>;

export const listForeign = defineOperation({
  name: "list_foreign",
  summary: "List agents of this user that Reeve did not start. Reeve only looks at them.",
  method: "GET",
  path: "/v1/foreign",
  effect: "read",
  callers: { operator: "any", session: "none" },
  example: {},
  names: [],
  input: () => z.object({}),
  output: () => z.object({ foreign: z.array(foreignSchema).check(z.describe("Those that were found.")) }),

  async run(_input, { supervisor, store }) {
    const found = await supervisor.foreign();
    // A conversation that a session of ours has is that session, however it was found.
    const own = new Set(
      store.registry
        .living()
        .flatMap(({ conversation, process }) => (process.exit === null ? (conversation.nativeId ?? []) : [])),
    );
    return { foreign: found.filter(({ nativeId }) => nativeId === null || !own.has(nativeId)).map(viewForeign) };
  },
});

function viewForeign(foreign: Foreign): ForeignView {
  const safe = (text: string | null): string | null => (text === null ? null : stripTerminal(text));
  return {
    agent: foreign.agent,
    held_by: foreign.heldBy,
    pid: foreign.process?.pid ?? null,
    native_id: safe(foreign.nativeId),
    cwd: safe(foreign.cwd),
    activity: foreign.activity,
    asks: safe(foreign.asks),
    evidence: stripTerminal(foreign.detail),
    advice: adviceOf(foreign),
  };
}

/** A conversation is never open twice, so it has to be ended where it is first. */
function adviceOf({ agent, heldBy, nativeId, cwd, process }: Foreign): string {
  const where =
    heldBy === "daemon" ? `in ${agent}'s own daemon` : `where it runs (process ${process?.pid ?? "unknown"})`;
  if (nativeId === null)
    return `Reeve does not know its conversation. End it ${where}, then start one with: reeve start ${agent}`;
  const place = cwd === null ? "" : ` --cwd ${word(cwd)}`;
  return `End it ${where}, then continue it with: reeve start ${agent} --resume ${word(nativeId)}${place}`;
}

/** As a person would type it. */
function word(text: string): string {
  const safe = stripTerminal(text);
  return /^[A-Za-z0-9@_+=:,./-]+$/.test(safe) ? safe : shellQuote(safe);
}
