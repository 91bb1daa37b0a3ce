import { expect, test } from "vitest";
import type { LoggedEvent } from "../session/event.ts";
import type { InboxEvent } from "../session/home-event.ts";
import type { InboxUrgency } from "../session/inbox-kind.ts";
import { channelOf, clearedBody, openedBody } from "./notification-fixture.ts";
import type { ChannelWishes } from "./notification-settings.ts";
import * as outbox from "./outbox.ts";

/** 2026-01-10, 12:00 in UTC; no quiet hour. */
const NOON = Date.parse("2026-01-10T12:00:00Z");
const EVENING = Date.parse("2026-01-10T23:00:00Z");
const MORNING = Date.parse("2026-01-11T07:00:00Z");
const open: ChannelWishes = channelOf({ type: "bell" });
const quiet: ChannelWishes = channelOf(
  { type: "bell" },
  { quiet: { from: 1_320, to: 420, zone: "UTC" }, quietExcept: ["blocked"] },
);

/** A log in which the numbers count up, and the channel that follows it. */
function ground(wishes = open, at = NOON) {
  let seq = 0;
  let record = outbox.newOutbox("bell", 0);
  let gathered = outbox.nothingGathered(record);
  const log: LoggedEvent[] = [];
  return {
    happen(...bodies: readonly InboxEvent[]) {
      const events = bodies.map((body) => ({ seq: ++seq, at, sessionId: null, caller: null, body }));
      log.push(...events);
      gathered = outbox.gather(record, gathered, events, () => true);
    },
    next: (now = at + outbox.GATHER_MS) => outbox.nextStep(record, gathered, wishes, now),
    begin(now = at + outbox.GATHER_MS) {
      const step = outbox.nextStep(record, gathered, wishes, now);
      if (step.do !== "begin") throw new Error(`the next step is to ${step.do}`);
      const items = step.items.map(([id]) => id);
      record = outbox.begun(record, gathered, step.items, { id: "n-1", now });
      gathered = outbox.withoutBegun(gathered, record, step.items);
      return items;
    },
    sent: (now = at) => void (record = outbox.sent(record, now)),
    fail(now: number, random = 1) {
      const outcome = outbox.failed(record, "It does not answer.", { now, random });
      record = outcome.outbox;
      return outcome;
    },
    isMoot: () =>
      outbox.isMoot(
        record,
        log.filter((event) => outbox.clearsSending(record, event)),
      ),
    record: () => record,
    waiting: () => [...gathered.waiting.keys()],
    /** Only the record is left, and the log. */
    restart() {
      gathered = outbox.gather(
        record,
        outbox.nothingGathered(record),
        log.filter(({ seq: one }) => one > record.cursor),
        () => true,
      );
    },
  };
}

const urgent = (id: string, urgency: InboxUrgency) => openedBody(id, { urgency });

test("each item is told once, across a restart; opened again, it is news", () => {
  const it = ground();
  it.happen(openedBody("a"), openedBody("a", { title: "a is more urgent" }));
  expect(it.begin()).toEqual(["a"]);
  expect(it.record().sending?.items).toEqual([{ itemId: "a", seq: 2 }]);
  it.sent();
  it.restart();
  expect(it.next()).toEqual({ do: "nothing" });
  it.happen(openedBody("a"));
  expect(it.begin()).toEqual(["a"]);
});

test.each(["closed", "acknowledged", "snoozed"] as const)(
  "what was %s is dropped, and told when it is opened again",
  (how) => {
    const it = ground();
    it.happen(openedBody("a"), clearedBody("a", how));
    expect(it.next()).toEqual({ do: "nothing" });
    it.happen(openedBody("a"));
    expect(it.begin()).toEqual(["a"]);
    it.sent();
    it.happen(clearedBody("a", how), openedBody("a"));
    it.restart();
    expect(it.begin()).toEqual(["a"]);
  },
);

test("several that come within two seconds are one; what comes later is another", () => {
  const it = ground();
  it.happen(openedBody("a"));
  it.happen(openedBody("b"));
  expect(it.next(NOON + 1_999)).toEqual({ do: "wait", until: NOON + 2_000 });
  expect(it.begin()).toEqual(["a", "b"]);
  expect(it.record()).toMatchObject({ cursor: 2, sending: { count: 2, urgency: "failed", attempts: 0 } });
  it.happen(openedBody("c"));
  it.sent();
  expect(it.begin()).toEqual(["c"]);
});

test("a storm of thousands is counted, and stays small", () => {
  const it = ground();
  it.happen(...Array.from({ length: 3_000 }, (_, at) => openedBody(`item-${at}`)));
  expect(it.waiting()).toHaveLength(500);
  it.begin();
  expect(it.record().sending).toMatchObject({ count: 3_000, items: { length: 20 } });
  expect(JSON.stringify(it.record()).length).toBeLessThan(2_000);
});

test("in quiet hours all is held, then told as one; what may pass does", () => {
  const it = ground(quiet, EVENING);
  it.happen(openedBody("a"), openedBody("b"), openedBody("c"));
  expect(it.next()).toEqual({ do: "wait", until: MORNING });
  it.happen(urgent("d", "blocked"));
  expect(it.begin()).toEqual(["d"]);
  expect(it.record()).toMatchObject({ cursor: 0, told: [{ itemId: "d", seq: 4 }] });
  it.sent();
  it.restart();
  expect(it.waiting()).toEqual(["a", "b", "c"]);
  it.happen(clearedBody("b", "acknowledged"));
  expect(it.next()).toEqual({ do: "wait", until: MORNING });
  expect(it.begin(MORNING)).toEqual(["a", "c"]);
  expect(it.record()).toMatchObject({ cursor: 5, sending: { count: 2 } });
  expect(it.record().told).toEqual([]);
});

test("what passed quiet hours, was put off and opened again is told again", () => {
  const it = ground(quiet, EVENING);
  it.happen(openedBody("held"), urgent("d", "blocked"));
  expect(it.begin()).toEqual(["d"]);
  it.sent();
  it.happen(clearedBody("d", "snoozed"), urgent("d", "blocked"));
  it.restart();
  expect(it.begin()).toEqual(["d"]);
  it.sent();
  it.restart();
  expect(it.waiting()).toEqual(["held"]);
});

test("a receiver that is down is tried again, ever later, and given up after a day", () => {
  const it = ground();
  it.happen(openedBody("a"));
  it.begin(NOON + 2_000);
  expect(it.next(NOON + 2_000)).toEqual({ do: "send" });
  let now = NOON + 2_000;
  const delays: number[] = [];
  let outcome = it.fail(now);
  while (!outcome.isGivenUp) {
    const step = it.next(now);
    if (step.do !== "wait") throw new Error(step.do);
    delays.push(step.until - now);
    now = step.until;
    outcome = it.fail(now);
  }
  expect(delays.slice(0, 5)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  expect(Math.max(...delays)).toBe(600_000);
  expect(now - NOON).toBeGreaterThanOrEqual(86_400_000);
  expect(now - NOON).toBeLessThan(86_400_000 + 700_000);
  expect(it.record()).toMatchObject({ sending: null, lastFailure: { at: now, why: "It does not answer." } });
});

test("retries are spread", () => {
  expect(outbox.retryDelayMs(1, 0)).toBe(750);
  expect(outbox.retryDelayMs(1, 1)).toBe(1_000);
  expect(outbox.retryDelayMs(1_000, 1)).toBe(600_000);
});

test("a retry waits for the end of quiet hours, and is moot when all of it was closed", () => {
  const it = ground(quiet, EVENING - 7_200_000);
  it.happen(openedBody("a"), openedBody("b"));
  it.begin();
  it.fail(EVENING - 7_000_000);
  expect(it.next(EVENING)).toEqual({ do: "wait", until: MORNING });
  it.happen(clearedBody("a", "closed"));
  expect(it.isMoot()).toBe(false);
  it.happen(clearedBody("b", "acknowledged"));
  expect(it.isMoot()).toBe(true);
});

test("no more often than asked for", () => {
  const it = ground(channelOf({ type: "bell" }, { minIntervalMs: 60_000 }));
  it.happen(openedBody("a"));
  it.begin();
  it.sent(NOON + 2_000);
  it.happen(openedBody("b"));
  expect(it.next(NOON + 5_000)).toEqual({ do: "wait", until: NOON + 62_000 });
  it.happen(openedBody("c"));
  expect(it.begin(NOON + 62_000)).toEqual(["b", "c"]);
});

test("a record that is none is refused", () => {
  const record = outbox.newOutbox("bell", 3);
  expect(outbox.outboxKind.parse(record)).toEqual(record);
  expect(() => outbox.outboxKind.parse({ ...record, cursor: -1 })).toThrow(
    "it does not describe what a notification channel has sent",
  );
});
