/** Gives a session another name. Its id, its directory and what runs in it stay as they are. */
import * as z from "zod/mini";
import { FREE_NAME, isFreeName, SESSION_ID_PATTERN } from "../session/session-id.ts";
import { targetOf } from "../supervisor/ledger/target.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { carryOut, lifecycleOutput } from "./lifecycle.ts";
import { sessionReference } from "./session-reference.ts";

export const renameSession = defineOperation({
  name: "rename_session",
  summary: "Give a session another name. Refused if a session that has not ended has that name.",
  method: "POST",
  path: "/v1/sessions/{session}/rename",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: { session: "fix", name: "fix-tests" },
  names: ["session"],
  input: () =>
    z.object({
      session: sessionReference,
      name: z
        .string()
        .check(
          z.regex(SESSION_ID_PATTERN, "made of lower-case letters, digits and dashes, at most 64"),
          z.refine(isFreeName, FREE_NAME),
          z.describe("Its new name."),
        ),
    }),
  output: () => lifecycleOutput,

  async run(input, context) {
    const renamed = await carryOut(context, {
      operation: "rename_session",
      session: input.session,
      command: { type: "rename", name: input.name },
      isFact: () => true,
      timeoutMs: 0,
    });
    relabel(context, renamed.session.session_id);
    return renamed;
  },
});

/**
 * In its terminal's status line. Nobody waits for that, because tmux may be slow to answer. Where it cannot be done, or
 * the daemon dies before it, the next start does it.
 */
function relabel({ store, supervisor }: OperationContext, id: string): void {
  const session = store.registry.get(id);
  if (session === undefined || session.process.place === null) return;
  const runtime = supervisor.runtime(session.identity.runtime);
  runtime.relabel(targetOf(session), session.identity.name).catch(() => undefined);
}
