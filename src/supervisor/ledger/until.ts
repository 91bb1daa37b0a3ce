/**
 * Waits until something in memory (registry, mailbox) becomes true: it checks again after every commit and never polls.
 * For what only the log tells, see operation/waiter.ts.
 */
import type { Clock } from "../../platform/clock.ts";
import type { LoggedEvent } from "../../session/event.ts";
import type { Store } from "../../store/contract.ts";

/** True once `holds` does, false at the time-out or when the signal fired. */
export async function until(
  context: { readonly store: Store; readonly clock: Clock; readonly signal?: AbortSignal },
  holds: (events: readonly LoggedEvent[]) => boolean,
  timeoutMs: number,
): Promise<boolean> {
  if (holds([])) return true;
  return await new Promise<boolean>((resolve, reject) => {
    const leave = (): void => {
      unfollow();
      cancel();
      context.signal?.removeEventListener("abort", onAbort);
    };
    const finish = (value: boolean): void => {
      leave();
      resolve(value);
    };
    const onAbort = (): void => finish(false);
    const unfollow = context.store.log.follow((events) => {
      try {
        if (holds(events)) finish(true);
      } catch (error) {
        leave();
        reject(error);
      }
    });
    const cancel = context.clock.after(timeoutMs, () => finish(false));
    context.signal?.addEventListener("abort", onAbort, { once: true });
    if (context.signal?.aborted === true) finish(false);
  });
}
