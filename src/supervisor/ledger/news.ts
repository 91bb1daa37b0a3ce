/**
 * Waiting for what only the log tells. Reading it takes time, in which more is
 * committed. So sessions are followed before the log is first read: whatever is
 * committed from then on is news, and nothing falls in between.
 */
import type { Clock } from "../../platform/clock.ts";
import type { EventType, LoggedEvent } from "../../session/event.ts";
import type { EventLog, Store } from "../../store/contract.ts";

export interface News {
  /** The number of the newest event about this session since it is followed; 0 for none. */
  newestOf(sessionId: string): number;
  /** Resolves when there is news since the last call, when the time is up, or when the signal fires. */
  next(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export function followSessions(log: EventLog, clock: Clock, sessionIds: ReadonlySet<string>): News {
  const newest = new Map<string, number>();
  let isNew = false;
  let wake: (() => void) | null = null;
  const close = log.follow((events) => {
    for (const { sessionId, seq } of events) {
      if (sessionId === null || !sessionIds.has(sessionId)) continue;
      newest.set(sessionId, seq);
      isNew = true;
    }
    if (isNew) wake?.();
  });
  const asleep = (timeoutMs: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const awake = (): void => {
        cancel();
        signal.removeEventListener("abort", awake);
        resolve();
      };
      const cancel = clock.after(timeoutMs, awake);
      signal.addEventListener("abort", awake);
      wake = awake;
      if (signal.aborted) awake();
    });
  return {
    newestOf: (sessionId) => newest.get(sessionId) ?? 0,
    async next(timeoutMs, signal) {
      if (!isNew) await asleep(timeoutMs, signal);
      isNew = false;
    },
    close,
  };
}

const PAGE = 1_000;

/** The first event of a session that fits, from the log or from what is committed next; null if none comes in time. */
export async function firstEvent(
  { store, clock, signal }: { readonly store: Store; readonly clock: Clock; readonly signal: AbortSignal },
  query: { readonly sessionId: string; readonly after: number; readonly types: readonly EventType[] },
  fits: (event: LoggedEvent) => boolean,
  timeoutMs: number,
): Promise<LoggedEvent | null> {
  const { log } = store;
  const news = followSessions(log, clock, new Set([query.sessionId]));
  const deadline = clock.monotonic() + timeoutMs;
  try {
    for (let after = query.after; ;) {
      const leftMs = deadline - clock.monotonic();
      const head = log.head();
      const page = await log.read({ after, limit: PAGE, sessionIds: [query.sessionId], types: query.types });
      const found = page.find(fits);
      if (found !== undefined) return found;
      const isMore = page.length === PAGE;
      after = isMore ? (page.at(-1)?.seq ?? after) : Math.max(after, head);
      if (isMore) continue;
      if (leftMs <= 0 || signal.aborted) return null;
      await news.next(leftMs, signal);
    }
  } finally {
    news.close();
  }
}
