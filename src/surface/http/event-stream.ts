/**
 * Sends a stream as server-sent events, at the pace of the subscriber: the next
 * page is read when the last one was taken. A subscriber that never reads uses
 * one page of memory until it is disconnected; with its Last-Event-ID it can
 * continue without a gap.
 */
import type { ServerResponse } from "node:http";
import { remembered } from "../../platform/remembered.ts";
import type { Direct, StreamItem } from "../../operation/contract.ts";

/** Proxies and clients give up on silence; the convention is 15 s. */
const HEARTBEAT_MS = 15_000;
/** A subscriber that took nothing for this long is gone or stuck. */
const STUCK_MS = 60_000;

export async function sendStream(
  response: ServerResponse,
  open: (direct: Direct) => AsyncIterable<readonly StreamItem[]>,
  signal: AbortSignal,
): Promise<void> {
  const write = (text: string | Buffer): boolean => {
    const isTaken = response.write(text);
    // Node would hold it back until everything else that the commit set going is done.
    response.socket?.uncork();
    return isTaken;
  };
  const pages = open((items) => {
    if (response.writableNeedDrain) return false;
    write(bytesOf(items));
    return true;
  });
  let wake: (() => void) | null = null;
  const wakeUp = (): void => wake?.();
  // One listener each for the whole stream: one per page would pile up for as long as somebody listens.
  signal.addEventListener("abort", wakeUp);
  response.on("drain", wakeUp);
  const taken = async (): Promise<void> => {
    const stuck = setTimeout(() => response.destroy(), STUCK_MS);
    while (response.writableNeedDrain && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
    clearTimeout(stuck);
  };
  const heartbeat = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
  // It ends with the connection, so no event needs a frame around it.
  response.removeHeader("transfer-encoding");
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    connection: "close",
  });
  write(": events\n\n");
  try {
    for await (const items of pages) {
      if (!write(items.map(textOf).join(""))) await taken();
    }
  } catch {
    // It went away in the middle of a write, or a page could not be read. The log keeps what it missed.
  } finally {
    clearInterval(heartbeat);
    signal.removeEventListener("abort", wakeUp);
    response.removeListener("drain", wakeUp);
    response.destroy();
  }
}

/** An item that goes to many subscribers at the same time is written down once. */
const NEWEST = 64;

const textOf = remembered(
  NEWEST,
  ({ id, type, data }: StreamItem) => `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`,
);

/** What is committed goes to all of them at once. */
const bytesOf = remembered(1, (items: readonly StreamItem[]) => Buffer.from(items.map(textOf).join("")));
