/** What the four lifecycle verbs share: find the session, submit the wish, wait until it is a fact. */
import * as z from "zod/mini";
import type { Command } from "../session/input.ts";
import type { Session } from "../session/session.ts";
import type { Environment } from "../supervisor/launch/environment.ts";
import type { OperationContext } from "./contract.ts";
import { idempotent } from "./idempotency.ts";
import { resolveSession } from "./session-reference.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import { settled } from "./settled.ts";

export const lifecycleOutput = z.object({
  /** False: the wish is recorded and being carried out, but it is not a fact yet. */
  done: z.boolean(),
  session: sessionViewSchema,
  /** What whoever asked should know besides. */
  note: z.nullable(z.string()),
});

export async function carryOut(
  context: OperationContext,
  request: {
    readonly operation: string;
    readonly session: string;
    readonly command: Command;
    readonly environment?: Environment;
    readonly isFact: (session: Session) => boolean;
    readonly timeoutMs: number;
  },
): Promise<z.infer<typeof lifecycleOutput>> {
  const { store, supervisor } = context;
  const before = resolveSession(store.registry, request.session);
  const id = await idempotent(context, request.operation, async (record) => {
    await supervisor.submit(before.id, request.command, {
      caller: context.caller,
      idempotency: record(before.id),
      ...(request.environment === undefined ? {} : { environment: request.environment }),
    });
    return before.id;
  });
  const { done, session = before } = await settled(context, id, request.isFact, request.timeoutMs);
  return { done, session: viewSession(session, supervisor.about(session)), note: null };
}
