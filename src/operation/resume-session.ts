import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { sessionReference } from "./session-reference.ts";

export const resumeSession = defineOperation({
  name: "resume_session",
  summary: "Resume a paused session and deliver what was held back.",
  method: "POST",
  path: "/v1/sessions/{session}/resume",
  effect: "change",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () => z.object({ session: sessionReference }),
  output: () => lifecycleOutput,

  run: (input, context) =>
    carryOut(context, {
      operation: "resume_session",
      session: input.session,
      command: { type: "resume" },
      isFact: (session) => session.process.exit !== null || session.state === "running",
      timeoutMs: 10_000,
    }),
});
