/**
 * Holds a session: it must stay, for a reason and for a time. It is not ended
 * by its idle time or its age, by a session, or by mistake; and nothing of it
 * is pruned.
 */
import * as z from "zod/mini";
import type { Moment } from "../platform/clock.ts";
import { durationText } from "../platform/duration.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { DEFAULT_HOLD_MS, LONGEST_HOLD_MS, LONGEST_HOLD_REASON } from "../session/stay.ts";
import { defineOperation } from "./contract.ts";
import { plainText, seconds } from "./field.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { sessionReference } from "./session-reference.ts";

/** More is refused by the schema; more than a hold may last, with a sentence that says how long that is. */
const MOST_SECONDS = 315_360_000;

export const holdReason = plainText().check(
  z.minLength(1, "why it must stay, in a few words"),
  z.maxLength(LONGEST_HOLD_REASON),
);

export const holdSession = defineOperation({
  name: "hold_session",
  summary:
    "Hold a session that must stay, for a reason and for a time: its idle and age time-outs do not fire, no session can end it, and nothing of it is pruned. Also releases it.",
  method: "POST",
  path: "/v1/sessions/{session}/hold",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", reason: "needed for the review", for_seconds: 7_200 },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      reason: z.optional(holdReason).check(z.describe("Why it must stay; whoever wants to end it reads this.")),
      for_seconds: z
        .optional(seconds(MOST_SECONDS))
        .check(z.describe("How long it is held: 24 hours by default, and 30 days at most.")),
      until: z
        .optional(z.string())
        .check(z.meta({ description: "Instead of `for_seconds`: the time when the hold ends.", format: "date-time" })),
      release: z._default(z.boolean(), false).check(z.describe("Release it instead: from now on it is not held.")),
    }),
  output: () => lifecycleOutput,

  run(input, context) {
    if (input.release && (input.reason ?? input.for_seconds ?? input.until) !== undefined)
      throw misuse("`release` ends a hold; leave reason, for_seconds and until out.");
    const forMs = input.release ? 0 : heldForMs(input, context.clock.moment());
    return carryOut(context, {
      operation: "hold_session",
      session: input.session,
      command: input.release
        ? { type: "release-hold" }
        : { type: "hold", reason: input.reason ?? "No reason was given.", forMs },
      isFact: () => true,
      timeoutMs: 0,
    });
  },
});

/** For how long; a time is counted from now, and a clock that is set later does not move it. */
export function heldForMs(
  given: { readonly for_seconds?: number | undefined; readonly until?: string | undefined },
  { at: now }: Pick<Moment, "at">,
): number {
  if (given.for_seconds !== undefined && given.until !== undefined)
    throw misuse("Give for_seconds or until, not both.");
  const forMs =
    given.until === undefined ? (given.for_seconds ?? DEFAULT_HOLD_MS / 1_000) * 1_000 : Date.parse(given.until) - now;
  if (Number.isNaN(forMs)) throw misuse("until must be a time, such as 2026-11-18T09:00:00Z.");
  if (forMs <= 0) throw misuse("The hold would be over already; give a later time, or more seconds.");
  if (forMs > LONGEST_HOLD_MS)
    throw misuse(`A session is held for ${durationText(LONGEST_HOLD_MS)} at most; give less, and hold it again then.`);
  return forMs;
}

function misuse(message: string): ReeveError {
  return new ReeveError({ code: "bad-hold", kind: "usage", message });
}
