import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

/** Beyond the grace: killing, proving and starting again. */
const MARGIN_MS = 15_000;

export const restartSession = defineOperation({
  name: "restart_session",
  summary: "Stop a session's processes and start it again, in the same conversation where the agent can.",
  method: "POST",
  path: "/v1/sessions/{session}/restart",
  effect: "change",
  callers: ["operator"],
  input: z.object({
    session: sessionReference,
    grace_seconds: z.optional(z.number().check(z.minimum(0), z.maximum(3_600))),
    /** The caller's environment; used only where the one it was started with is gone. */
    environment: z.optional(z.record(z.string(), z.optional(z.string()))),
  }),
  output: lifecycleOutput,

  async run(input, context) {
    const { store, supervisor } = context;
    const before = resolveSession(store.registry, input.session);
    // What could not be started again is not stopped either.
    supervisor.requireUnimpeded(before);
    supervisor.requireStartable(before.agent, before.runtime);
    const graceMs = (input.grace_seconds ?? supervisor.settings.endGraceMs / 1_000) * 1_000;
    const environment =
      input.environment === undefined || before.launch.envNames.length > 0
        ? undefined
        : supervisor.environment({ caller: input.environment, envFile: before.launch.envFile, given: {} });
    const outcome = await carryOut(context, {
      operation: "restart_session",
      session: before.id,
      command: { type: "restart", graceMs },
      ...(environment === undefined ? {} : { environment }),
      isFact: (session) => session.stop === null && session.state !== "starting",
      timeoutMs: graceMs + MARGIN_MS,
    });
    requireStarted(store.registry.get(before.id));
    return outcome;
  },
});

/** It was stopped, and could not be started again: whoever asked must not take that for done. */
function requireStarted(session: Session | undefined): void {
  if (session === undefined || session.state !== "error" || session.place !== null || session.stop !== null) return;
  throw new ReeveError({
    code: session.reason.code,
    kind: "conflict",
    message: session.reason.text,
    details: { session_id: session.id },
  });
}
