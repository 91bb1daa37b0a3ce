/**
 * Shared by the four lifecycle operations: finds the session, records what was
 * asked for, and waits until it has happened.
 */
import * as z from "zod/mini";
import type { Command } from "../session/input.ts";
import type { Session } from "../session/session.ts";
import type { Environment } from "../supervisor/launch/environment.ts";
import type { OperationContext } from "./contract.ts";
import { textOrNull, yesOrNo, whenUsed } from "./field.ts";
import { idempotent } from "./idempotency.ts";
import { resolveSession } from "./session-reference.ts";
import { sessionViewSchema, viewSession } from "./session-view.ts";
import { settled } from "./settled.ts";

export const lifecycleOutput = whenUsed(() =>
  z
    .object({
      done: yesOrNo("False: what you asked for is recorded and being carried out, but it has not happened yet."),
      session: sessionViewSchema.check(z.describe("The session as it is now.")),
      note: textOrNull("What else you should know, in a sentence."),
    })
    .register(z.globalRegistry, { id: "LifecycleAnswer", description: "The outcome of a change to a session." }),
);

export async function carryOut(
  context: OperationContext,
  request: {
    readonly operation: string;
    readonly session: string;
    readonly command: Command;
    readonly environment?: Environment;
    readonly isFact: (session: Session) => boolean;
    readonly timeoutMs: number;
    /** Makes the commit, under a condition of its own. */
    readonly submitting?: (submit: () => Promise<unknown>) => Promise<unknown>;
  },
): Promise<z.infer<typeof lifecycleOutput>> {
  const { store, supervisor } = context;
  const before = resolveSession(store.registry, request.session);
  const id = await idempotent(context, request.operation, async (record) => {
    const submit = (): Promise<unknown> =>
      supervisor.submit(before.id, request.command, {
        caller: context.caller,
        idempotency: record(before.id),
        ...(request.environment === undefined ? {} : { environment: request.environment }),
      });
    await (request.submitting === undefined ? submit() : request.submitting(submit));
    return before.id;
  });
  const { done, session = before } = await settled(context, id, request.isFact, request.timeoutMs);
  return { done, session: viewSession(session, supervisor.about(session)), note: null };
}
