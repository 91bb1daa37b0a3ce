/** Waits for a session to reach some state, by following the log instead of polling. */
import type { Session } from "../session/session.ts";
import { until } from "../supervisor/ledger/until.ts";
import type { OperationContext } from "./contract.ts";

/** The session once the condition holds, or as it is when the time is up. */
export async function settled(
  context: OperationContext,
  sessionId: string,
  condition: (session: Session) => boolean,
  timeoutMs: number,
): Promise<{ readonly done: boolean; readonly session: Session | undefined }> {
  const read = () => context.store.registry.get(sessionId);
  const holds = (): boolean => {
    const session = read();
    return session === undefined || condition(session);
  };
  const done = await until(context, holds, timeoutMs);
  return { done, session: read() };
}
