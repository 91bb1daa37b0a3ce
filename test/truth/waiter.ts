/** A waiter with a cursor: it goes on from each wake, across everything that happens to the daemon, and misses nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../../src/client/create-client.ts";
import type { Event, Wake } from "./history.ts";

export interface Waiter {
  /** It has been woken for everything that is in the log, or has had time to. */
  caughtUp(events: () => readonly Event[]): Promise<void>;
  stop(): Promise<readonly Wake[]>;
}

const CATCH_UP_MS = 10_000;
const QUESTION_SECONDS = 20;
const BETWEEN_ENDS_MS = 500;

export function startWaiter(client: Client, session: string, onFailure: (error: unknown) => void): Waiter {
  const stopping = new AbortController();
  const { signal } = stopping;
  const wakes: Wake[] = [];
  let since = 0;

  async function waitOnce(): Promise<void> {
    const answer = await client.waitForSession({ session, since, timeout_seconds: QUESTION_SECONDS }, { signal });
    const at = Date.now();
    if (!answer.done) {
      since = Math.max(since, answer.cursor);
      // While it is paused that is told at once, as often as somebody asks.
      if (answer.reason === "nothing-to-wait-for") await sleep(BETWEEN_ENDS_MS, undefined, { signal });
      return;
    }
    const isComplete = answer.reason === "turn-completed";
    const data = isComplete ? await client.getSessionData({ session }, { signal }).catch(() => null) : null;
    const shown =
      data?.messages
        ?.filter(({ role }) => role === "assistant")
        .map(({ text }) => text)
        .join("\n") ??
      data?.text ??
      null;
    const isBehind = data?.note.includes("may be behind") ?? false;
    wakes.push({ reason: answer.reason, cursor: answer.cursor, at, shown, source: data?.source ?? null, isBehind });
    since = answer.cursor;
    // It is told at once for as long as nobody starts it again.
    if (answer.reason === "exited") await sleep(BETWEEN_ENDS_MS, undefined, { signal });
  }

  const loop = (async (): Promise<void> => {
    while (!signal.aborted) {
      await waitOnce().catch(async (error: unknown) => {
        if (signal.aborted) return;
        onFailure(error);
        await sleep(200);
      });
    }
  })();

  return {
    async caughtUp(events) {
      const isThrough = (): boolean => {
        const last = events().findLast(({ type }) =>
          /^(?:turn-(?:completed|failed|interrupted)|session-exited)$/.test(type),
        );
        return last === undefined || since >= last.seq;
      };
      for (const endsAt = Date.now() + CATCH_UP_MS; !isThrough() && Date.now() < endsAt;) await sleep(40);
    },
    async stop() {
      stopping.abort();
      await loop;
      return wakes;
    },
  };
}
