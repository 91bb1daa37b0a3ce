/**
 * Ends a session: asks its processes to end, kills those that do not, and
 * proves that nothing is left. Repeating the request is harmless.
 */
import * as z from "zod/mini";
import { isEnded } from "../session/session.ts";
import { defineOperation } from "./contract.ts";
import { seconds } from "./field.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { sessionReference } from "./session-reference.ts";

/** Beyond the grace: killing and proving. */
const MARGIN_MS = 15_000;

export const endSession = defineOperation({
  name: "end_session",
  summary:
    "End a session and everything it started, and say what was done. A turn under way is finished first unless `when` is now.",
  method: "POST",
  path: "/v1/sessions/{session}/end",
  effect: "end",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", when: "now" },
  names: ["session"],
  input: z.object({
    session: sessionReference,
    when: z
      ._default(z.enum(["now", "after-turn"]), "after-turn")
      .check(z.describe("now: at once. after-turn: once the turn under way is over.")),
    grace_seconds: z
      .optional(seconds(3_600))
      .check(z.describe("How long its processes may take to end by themselves before they are killed.")),
    timeout_seconds: z
      .optional(seconds(3_600))
      .check(z.describe("How long to wait for the proof before answering `done: false`; by default long enough.")),
  }),
  output: lifecycleOutput,

  async run(input, context) {
    const graceMs = (input.grace_seconds ?? context.supervisor.settings.endGraceMs / 1_000) * 1_000;
    const outcome = await carryOut(context, {
      operation: "end_session",
      session: input.session,
      command: { type: "end", graceMs, afterTurn: input.when === "after-turn" },
      isFact: (session) => isEnded(session) || session.wish.desired !== "stopped",
      timeoutMs: input.timeout_seconds === undefined ? graceMs + MARGIN_MS : input.timeout_seconds * 1_000,
    });
    if (outcome.session.desired === "stopped") return outcome;
    return { ...outcome, done: false, note: "Its end was cancelled; it goes on." };
  },
});
