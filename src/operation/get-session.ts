import * as z from "zod/mini";
import { defineOperation } from "./contract.ts";
import { resolveSession, sessionReference } from "./session-reference.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";

export const getSession = defineOperation({
  name: "get_session",
  summary: "One session as it is now.",
  method: "GET",
  path: "/v1/sessions/{session}",
  effect: "read",
  callers: { operator: "any", session: "descendants" },
  example: { session: "fix" },
  names: ["session"],
  input: () => z.object({ session: sessionReference }),
  output: () => sessionViewSchema,

  async run(input, { store, supervisor }) {
    const session = resolveSession(store.registry, input.session);
    return viewSession(session, supervisor.about(session));
  },
});
