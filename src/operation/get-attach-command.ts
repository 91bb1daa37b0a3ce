import * as z from "zod/mini";
import { ReeveError } from "../platform/reeve-error.ts";
import { targetOf } from "../supervisor/target.ts";
import { defineOperation } from "./contract.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";

export const getAttachCommand = defineOperation({
  name: "get_attach_command",
  summary: "What to run in a terminal to be in the session.",
  method: "GET",
  path: "/v1/sessions/{session}/attach",
  effect: "read",
  callers: ["operator"],
  input: z.object({ session: sessionReference }),
  output: z.object({ session_id: z.string(), argv: z.array(z.string()) }),

  async run(input, { store, supervisor }) {
    const session = resolveSession(store.registry, input.session);
    if (session.exit !== null || session.place === null) {
      throw new ReeveError({
        code: "not-running",
        kind: "conflict",
        message: `Session ${session.name} has no process to attach to; see reeve data ${session.name}.`,
      });
    }
    return {
      session_id: session.id,
      argv: [...(await supervisor.runtime(session.runtime).attachCommand(targetOf(session)))],
    };
  },
});
