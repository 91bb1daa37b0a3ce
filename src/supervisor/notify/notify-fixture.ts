/** For tests only: a notifier over a real store, with a clock that the test turns. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { NotificationChannel } from "../../fleet/notification-settings.ts";
import { type Outbox, outboxKind } from "../../fleet/outbox.ts";
import type { InboxEvent } from "../../session/home-event.ts";
import { putSession } from "../../store/change.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, makeSession } from "../../store/store-fixture.ts";
import { createScheduler, type Scheduler } from "../ledger/scheduler.ts";
import { createNotifier, type Notifier } from "./notifier.ts";
import type { SenderParts } from "./sender.ts";

export interface NotifyGround {
  readonly clock: TestClock;
  readonly store: Store;
  notifier(): Notifier;
  /** These channels from now on: the daemon was restarted. */
  channels(...channels: readonly NotificationChannel[]): Promise<void>;
  happen(...bodies: readonly InboxEvent[]): Promise<void>;
  /** Time goes on until this is true, but not while something is being sent: that takes the time that it takes. */
  until(what: string, look: () => boolean): Promise<void>;
  /** So much time passes, likewise. */
  pass(ms: number): Promise<void>;
  /** What is being sent takes too long. */
  timeOut(): Promise<void>;
  outbox(channel: string): Promise<Outbox | undefined>;
  /** A file that holds this; its path. */
  file(name: string, text: string): string;
  dispose(): Promise<void>;
}

const TURN_MS = 100;
const LONGEST_TURNS = 4_000;

export async function makeNotifyGround(parts: Partial<SenderParts> = {}): Promise<NotifyGround> {
  const clock = makeTestClock();
  const home = makeHome();
  const store = await home.open({ clock });
  const directory = mkdtempSync(join(tmpdir(), "reeve-notify-"));
  const session = makeSession(home, "s1", { identity: { name: "fix", role: "builder" } });
  await store.commit({ changes: [putSession(session)] });
  /** What is being sent now, by the purpose of its time-out. */
  const sending = new Set<string>();
  let daemon = begin([]);

  function begin(channels: readonly NotificationChannel[]) {
    const scheduler = watched(createScheduler({ clock, log: home.log, observe: async () => undefined }), sending);
    const environment = { PATH: process.env["PATH"] ?? "", HOME: directory };
    const notifier = createNotifier({
      store,
      clock,
      scheduler,
      log: home.log,
      settings: { notify: channels },
      runtimes: [],
      environment,
      ...parts,
    });
    notifier.start();
    return { scheduler, notifier };
  }

  /** A receiver that hangs is waited for so long, which is for the test to end. */
  async function settled(): Promise<void> {
    for (let moments = 0; moments < 20 && sending.size > 0; moments++) await aMoment();
  }

  async function turnClock(): Promise<void> {
    await settled();
    if (sending.size > 0) return;
    await clock.advance(TURN_MS);
    await aMoment();
  }

  async function end(): Promise<void> {
    daemon.scheduler.close();
    await daemon.notifier.close();
  }

  return {
    clock,
    store,
    notifier: () => daemon.notifier,
    async channels(...channels) {
      await end();
      daemon = begin(channels);
      // Until each has its cursor: what comes from then on is told.
      while ((await store.records(outboxKind).list()).length < channels.length) await aMoment();
    },
    async happen(...bodies) {
      await store.commit({ events: bodies.map((body) => ({ sessionId: "s1", body })) });
    },
    async until(what, look) {
      for (let turn = 0; turn < LONGEST_TURNS; turn++) {
        await settled();
        if (look()) return;
        await turnClock();
      }
      throw new Error(`never happened: ${what}`);
    },
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += TURN_MS) await turnClock();
    },
    async timeOut() {
      await eventually("something is being sent", () => sending.size > 0);
      await clock.advance(10_000);
    },
    outbox: (channel) => store.records(outboxKind).get(channel),
    file(name, text) {
      const path = join(directory, name);
      writeFileSync(path, text, { mode: 0o600 });
      return path;
    },
    async dispose() {
      await end();
      await home.remove();
      rmSync(directory, { recursive: true });
    },
  };
}

function watched(scheduler: Scheduler, sending: Set<string>): Scheduler {
  const isTimeOut = (purpose: string): boolean => purpose.startsWith("notify-timeout");
  return {
    ...scheduler,
    after(sessionId, purpose, ms, act) {
      if (isTimeOut(purpose)) sending.add(purpose);
      scheduler.after(sessionId, purpose, ms, act);
    },
    cancel(sessionId, purpose) {
      sending.delete(purpose);
      scheduler.cancel(sessionId, purpose);
    },
  };
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
