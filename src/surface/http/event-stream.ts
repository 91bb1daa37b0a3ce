/**
 * The log as server-sent events. A stream is a cursor: it reads the log page
 * by page at the subscriber's own pace and holds nothing for it, so one that
 * never reads costs a page of memory until it is cut; its Last-Event-ID brings
 * it back without a gap.
 */
import type { ServerResponse } from "node:http";
import { viewEvent } from "../../operation/read-events.ts";
import type { EventLog } from "../../store/contract.ts";

const PAGE = 200;
/** Proxies and clients give up on silence; the convention is 15 s. */
const HEARTBEAT_MS = 15_000;
/** A subscriber that took nothing for this long is gone or stuck. */
const STUCK_MS = 60_000;

export async function streamEvents(
  response: ServerResponse,
  options: {
    readonly log: EventLog;
    readonly after: number;
    readonly sessionIds: readonly string[] | null;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { log, signal } = options;
  let cursor = options.after;
  let wake: (() => void) | null = null;
  const wakeUp = (): void => wake?.();
  // One listener each for the whole stream: one per wake would pile up for as long as somebody listens.
  const unfollow = log.follow(wakeUp);
  signal.addEventListener("abort", wakeUp);
  response.on("drain", wakeUp);
  const asleep = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
      if (signal.aborted) resolve();
    });
  const heartbeat = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store" });
  response.write(": events\n\n");
  try {
    while (!signal.aborted) {
      const head = log.head();
      const events = log.read({
        after: cursor,
        limit: PAGE,
        ...(options.sessionIds === null ? {} : { sessionIds: options.sessionIds }),
      });
      const text = events
        .map((event) => `id: ${event.seq}\nevent: ${event.body.type}\ndata: ${JSON.stringify(viewEvent(event))}\n\n`)
        .join("");
      cursor = events.at(-1)?.seq ?? Math.max(cursor, head);
      const isTaken = text === "" || response.write(text);
      // Node would hold it back until everything else that the commit set going is done.
      response.socket?.uncork();
      if (!isTaken) {
        const stuck = setTimeout(() => response.destroy(), STUCK_MS);
        while (response.writableNeedDrain && !signal.aborted) await asleep();
        clearTimeout(stuck);
      }
      if (log.head() > cursor) continue;
      await asleep();
    }
  } catch {
    // It went away in the middle of a write. The log keeps what it missed.
  } finally {
    clearInterval(heartbeat);
    unfollow();
    signal.removeEventListener("abort", wakeUp);
    response.removeListener("drain", wakeUp);
    response.destroy();
  }
}
