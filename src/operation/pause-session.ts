import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

export const pauseSession = defineOperation({
  name: "pause_session",
  summary:
    "Pause a session: hold back what is sent to it while the process runs on, or with `suspend` stop its processes too.",
  method: "POST",
  path: "/v1/sessions/{session}/pause",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix", suspend: true },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      suspend: z._default(z.boolean(), false).check(z.describe("Also stop its processes until it is resumed.")),
    }),
  output: () => lifecycleOutput,

  async run(input, context) {
    if (input.suspend) requireSuspend(context, input.session);
    return carryOut(context, {
      operation: "pause_session",
      session: input.session,
      command: { type: "pause", mode: input.suspend ? "suspend" : "detach" },
      isFact: (session) =>
        session.process.exit !== null || (session.state === "paused" && session.process.suspended === input.suspend),
      timeoutMs: 10_000,
    });
  },
});

function requireSuspend({ store, supervisor }: OperationContext, reference: string): void {
  const session = resolveSession(store.registry, reference);
  if (supervisor.runtime(session.identity.runtime).capabilities.suspend) return;
  throw new ReeveError({
    code: "cannot-suspend",
    kind: "conflict",
    message: `Session ${session.identity.name} runs on ${session.identity.runtime}, whose processes cannot be stopped and continued; pause it without --suspend.`,
  });
}
