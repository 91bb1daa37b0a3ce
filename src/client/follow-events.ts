/**
 * The log as it grows. A follower is a cursor: when the connection breaks it
 * asks again from the last event it gave out, so its reader sees each event
 * once and none is missing.
 */
import { createParser } from "eventsource-parser";
import { systemClock } from "../platform/clock.ts";
import { reach } from "./link.ts";
import type { Link } from "./link.ts";
import type { EventView, InputOf } from "./operation-types.ts";
import { problemFrom } from "./problem.ts";
import { isLost, isUnreached } from "./request.ts";
import type { Flow } from "./request.ts";
import { aim, ROUTES } from "./routes.ts";
import { ReeveError } from "../platform/reeve-error.ts";

export type FollowInput = Omit<InputOf<"readEvents">, "limit">;

/** Three heartbeats of 15 s missed. */
const SILENCE_MS = 45_000;
const RECONNECT_MS = 250;
/** Read but not taken yet; beyond this the daemon is held back. */
const MOST_QUEUED = 1_000;

export async function* followEvents(
  link: Link,
  input: FollowInput,
  signal?: AbortSignal,
): AsyncGenerator<EventView, void, void> {
  let cursor = input.after ?? 0;
  for (let isFirst = true; ; isFirst = false) {
    try {
      for await (const event of oneConnection(link, { ...input, after: cursor }, isFirst, signal)) {
        cursor = event.seq;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted === true) return;
      const isPassing =
        isLost(error) ||
        (error instanceof ReeveError && error.code === "daemon-silent") ||
        (isUnreached(error) && !isFirst);
      if (!isPassing) throw error;
    }
    if (signal?.aborted === true) return;
    await systemClock.sleep(RECONNECT_MS);
  }
}

async function* oneConnection(
  link: Link,
  input: FollowInput,
  isFirst: boolean,
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
    },
    body: (bytes: Buffer): void => {
      const text = decoder.decode(bytes, { stream: true });
      if (status === 200) parser.feed(text);
      else refusal += text;
    },
  };
  const headers = { accept: "text/event-stream", "last-event-id": String(input.after ?? 0) };
  const request = { ...aim(ROUTES.readEvents, input), headers, signal, patienceMs: SILENCE_MS };
  const finished = reach(link, request, listener, isFirst ? "always" : "after-crash").finally(() => {
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
