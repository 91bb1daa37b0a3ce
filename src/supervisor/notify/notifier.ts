/**
 * Tells the operator, outside of Reeve, of what comes into the inbox: a lane for
 * each `[[notify]]` of config.toml. Without any, nothing is followed, recorded
 * or sent.
 */
import { type Notification, testNotification } from "../../fleet/notification.ts";
import type { NotificationChannel } from "../../fleet/notification-settings.ts";
import { INBOX_EVENTS, outboxKind } from "../../fleet/outbox.ts";
import type { Clock } from "../../platform/clock.ts";
import { newNotificationId } from "../../platform/ids.ts";
import type { Log } from "../../platform/log.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { type Attempt, createLane, type Lane, type LaneView } from "./lane.ts";
import { createSend, type SenderParts } from "./sender.ts";

export interface Notifier {
  /** From now on notifications are sent, first what the last daemon left. */
  start(): void;
  views(): readonly LaneView[];
  /** Sends a test to this channel, or to all, whatever the hour; nothing is recorded. */
  test(name: string | null): Promise<readonly TestedChannel[]>;
  close(): Promise<void>;
}

export interface TestedChannel extends Attempt {
  readonly channel: NotificationChannel;
}

export function createNotifier(
  parts: Omit<SenderParts, "platform"> & {
    readonly settings: { readonly notify: readonly NotificationChannel[] };
    readonly store: Store;
    readonly clock: Clock;
    readonly scheduler: Scheduler;
    readonly log: Log;
  },
): Notifier {
  const { store, clock, log } = parts;
  const sessionOf = (sessionId: string | null) => {
    const session = sessionId === null ? undefined : store.registry.get(sessionId);
    return session === undefined ? null : { id: session.id, name: session.identity.name, role: session.identity.role };
  };
  const lanes = parts.settings.notify.map((channel) => {
    const send = createSend(channel, { ...parts, platform: process.platform });
    return { channel, lane: createLane(channel, send, { ...parts, sessionOf }) };
  });
  let unfollow = (): void => undefined;

  /** One that comes back later under the same name begins anew: it must not tell of what is long over. */
  async function forgetOthers(): Promise<void> {
    const gone = (await store.records(outboxKind).list()).filter(
      ({ id }) => !lanes.some(({ channel }) => channel.name === id),
    );
    if (gone.length > 0) await store.commit({ changes: gone.map((record) => outboxKind.remove(record)) });
  }

  function pokeAll(): void {
    for (const { lane } of lanes) lane.poke();
  }

  async function testOne({ channel, lane }: { readonly channel: NotificationChannel; readonly lane: Lane }) {
    const notification: Notification = testNotification(newNotificationId(), channel.name, clock.now());
    return { channel, ...(await lane.attempt(notification)) };
  }

  return {
    start() {
      forgetOthers().catch((error: unknown) => log("old notification channels were not forgotten", { why: error }));
      if (lanes.length === 0) return;
      unfollow = store.log.follow((events) => {
        if (events.some(({ body }) => INBOX_EVENTS.some((type) => type === body.type))) pokeAll();
      });
      pokeAll();
    },
    views: () => lanes.map(({ lane }) => lane.view()),
    async test(name) {
      const chosen = name === null ? lanes : lanes.filter(({ channel }) => channel.name === name);
      if (chosen.length === 0) throw noChannel(name);
      return await Promise.all(chosen.map(testOne));
    },
    async close() {
      unfollow();
      await Promise.all(lanes.map(({ lane }) => lane.close()));
    },
  };
}

function noChannel(name: string | null): ReeveError {
  return new ReeveError({
    code: "unknown-channel",
    kind: "usage",
    message:
      name === null
        ? "There is no notification channel; add a [[notify]] table to config.toml, then run: reeve daemon restart."
        : `There is no notification channel ${name}; see reeve notify list.`,
  });
}
