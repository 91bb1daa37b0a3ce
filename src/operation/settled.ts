/** Waiting for a session to become something: by the log, never by polling. */
import type { LoggedEvent } from "../session/event.ts";
import type { Session } from "../session/session.ts";
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

/** True once `holds` does (asked again after every commit), false at the time-out or when the caller left. */
export async function until(
  context: Pick<OperationContext, "store" | "signal">,
  holds: (events: readonly LoggedEvent[]) => boolean,
  timeoutMs: number,
): Promise<boolean> {
  if (holds([])) return true;
  return await new Promise<boolean>((resolve) => {
    const finish = (value: boolean): void => {
      unfollow();
      clearTimeout(timer);
      context.signal.removeEventListener("abort", onAbort);
      resolve(value);
    };
    const onAbort = (): void => finish(false);
    const unfollow = context.store.log.follow((events) => {
      if (holds(events)) finish(true);
    });
    const timer = setTimeout(() => finish(false), timeoutMs);
    context.signal.addEventListener("abort", onAbort, { once: true });
    if (context.signal.aborted) finish(false);
  });
}
