/**
 * Follows the log as it grows. If the connection breaks, it asks again from the
 * last event that it passed on, so its reader sees each event exactly once.
 */
import { createParser } from "eventsource-parser";
import { systemClock } from "../platform/clock.ts";
import type { CallOptions } from "./call.ts";
import type { EventView, InputOf } from "./operation-types.ts";
import { isUnreached, problemFrom } from "./problem.ts";
import { ENDURANCE_MS, isOutage } from "./endurance.ts";
import { type Flow, type Link, reach } from "./request.ts";
import { aim, ROUTES } from "./routes.ts";

export type FollowInput = Omit<InputOf<"readEvents">, "limit">;

export interface FollowOptions extends CallOptions {
  /** Called when the daemon is reached, and when the connection to it is lost; events that were missed follow. */
  readonly onLink?: (link: "reached" | "lost") => void;
}

/** Three heartbeats of 15 s missed. */
const SILENCE_MS = 45_000;
const RECONNECT_MS = 250;
/** Read but not taken yet; beyond this the daemon is held back. */
const MOST_QUEUED = 1_000;

export async function* followEvents(
  link: Link,
  input: FollowInput,
  { signal, onLink }: FollowOptions = {},
): AsyncGenerator<EventView, void, void> {
  let cursor = input.since ?? 0;
  // Whoever cannot be reached at all is reported; whoever was reached once is waited for.
  let isReached = false;
  const begunAt = systemClock.monotonic();
  for (;;) {
    try {
      const onReached = (): void => {
        isReached = true;
        onLink?.("reached");
      };
      for await (const event of oneConnection(link, { ...input, since: cursor }, isReached, onReached, signal)) {
        cursor = event.seq;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted === true) return;
      const mayPass = isReached || isStillEnduring(link, error, begunAt);
      if (!isOutage(error) || !mayPass) throw error;
    }
    if (signal?.aborted === true) return;
    onLink?.("lost");
    await systemClock.sleep(RECONNECT_MS);
  }
}

function isStillEnduring(link: Link, error: unknown, since: number): boolean {
  if (isUnreached(error) && link.start === null) return false;
  return systemClock.monotonic() - since < (link.enduranceMs ?? ENDURANCE_MS);
}

async function* oneConnection(
  link: Link,
  input: FollowInput,
  wasReached: boolean,
  onReached: () => void,
  outer: AbortSignal | undefined,
): AsyncGenerator<EventView, void, void> {
  const left = new AbortController();
  const signal = outer === undefined ? left.signal : AbortSignal.any([outer, left.signal]);
  const queue: EventView[] = [];
  let wake = (): void => undefined;
  let flow: Flow | null = null;
  let status = 0;
  let refusal = "";
  let isOver = false;
  const parser = createParser({
    onEvent: (message) => {
      queue.push(JSON.parse(message.data) as EventView);
      if (queue.length > MOST_QUEUED) flow?.pause();
      wake();
    },
  });
  const decoder = new TextDecoder();
  const listener = {
    head: (head: { readonly status: number }, theFlow: Flow): void => {
      status = head.status;
      flow = theFlow;
      onReached();
    },
    body: (bytes: Buffer): void => {
      const text = decoder.decode(bytes, { stream: true });
      if (status === 200) parser.feed(text);
      else refusal += text;
    },
  };
  const headers = { accept: "text/event-stream", "last-event-id": String(input.since ?? 0) };
  const request = { ...aim(ROUTES.readEvents, input), headers, signal, patienceMs: SILENCE_MS, outlastsSilence: true };
  const finished = reach(link, request, listener, wasReached ? "after-crash" : "always").finally(() => {
    isOver = true;
    wake();
  });
  // Awaited below; until then its failure is no one's.
  finished.catch(() => undefined);
  try {
    for (;;) {
      const event = queue.shift();
      if (event !== undefined) {
        yield event;
      } else if (isOver) {
        await finished;
        if (status !== 200) throw problemFrom(status, refusal);
        return;
      } else {
        resume(flow);
        await new Promise<void>((resolve) => (wake = resolve));
      }
    }
  } finally {
    left.abort();
  }
}

function resume(flow: Flow | null): void {
  flow?.resume();
}
