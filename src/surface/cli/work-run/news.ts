/**
 * What happens in the log while `reeve work run` is at it: one stream, from the
 * answer to its first question on. It wakes whoever waits, and hands each event on.
 */
import type { Client } from "../../../client/create-client.ts";
import type { EventView } from "../../../client/operation-types.ts";
import { systemClock } from "../../../platform/clock.ts";

export interface News {
  /** Resolves when something has happened since the last time, or after so long. */
  next(mostMs: number): Promise<void>;
  /** Something happened that is no event. */
  wake(): void;
}

export function followNews(
  client: Pick<Client, "followEvents">,
  since: number,
  onEvent: (event: EventView) => void,
  signal: AbortSignal,
): News {
  let isNew = false;
  let ring: (() => void) | null = null;
  let failure: unknown = null;
  const wake = (): void => {
    isNew = true;
    ring?.();
  };
  const follow = async (): Promise<void> => {
    for await (const event of client.followEvents({ since }, { signal })) {
      onEvent(event);
      wake();
    }
  };
  follow().catch((error: unknown) => {
    failure = error;
    wake();
  });
  return {
    wake,
    async next(mostMs) {
      const over = new AbortController();
      const news = new Promise<void>((resolve) => (ring = resolve));
      if (!isNew) await Promise.race([news, systemClock.sleep(mostMs, over.signal).catch(() => undefined)]);
      over.abort();
      ring = null;
      isNew = false;
      if (failure !== null) throw failure;
    },
  };
}
