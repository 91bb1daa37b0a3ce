/**
 * A channel at random, from seeds: items are opened, put off, opened again and
 * settled, by day and in quiet hours; receivers fail; the daemon is killed. What
 * is still open in the end was told, each opening once, and at night only what
 * may pass.
 */
import { expect, test } from "vitest";
import { createRandom } from "../../test/truth/random.ts";
import type { LoggedEvent } from "../session/event.ts";
import type { InboxEvent } from "../session/home-event.ts";
import { channelOf, clearedBody, openedBody } from "./notification-fixture.ts";
import * as outbox from "./outbox.ts";

const wishes = channelOf(
  { type: "bell" },
  { quiet: { from: 1_320, to: 420, zone: "UTC" }, quietExcept: ["blocked"], minIntervalMs: 30_000 },
);
const HOUR_MS = 3_600_000;
const ITEMS = ["a", "b", "c", "d"];

test.each(Array.from({ length: 40 }, (_, index) => `seed ${index}`))("%s", (seed) => {
  const random = createRandom(seed);
  const log: LoggedEvent[] = [];
  /** By item: the number of its last opening, while it is open. */
  const open = new Map<string, LoggedEvent>();
  const told = new Set<number>();
  let now = Date.parse("2026-01-10T18:00:00Z");
  let record = outbox.newOutbox("bell", 0);
  let gathered = outbox.nothingGathered(record);

  const happen = (body: InboxEvent): void => {
    const event = { seq: log.length + 1, at: now, sessionId: null, caller: null, body };
    log.push(event);
    if (body.type === "inbox-opened") open.set(body.itemId, event);
    else open.delete(body.itemId);
  };
  const catchUp = (): void => {
    const news = log.filter(({ seq }) => seq > gathered.through);
    gathered = outbox.gather(record, gathered, news, () => true);
    record = outbox.caughtUp(record, gathered) ?? record;
  };
  const step = (canSend: boolean): outbox.NextStep => {
    catchUp();
    const next = outbox.nextStep(record, gathered, wishes, now);
    const hour = new Date(now).getUTCHours();
    const isNight = hour >= 22 || hour < 7;
    if (next.do === "begin") {
      for (const [itemId, { seq, urgency }] of next.items) {
        expect(open.get(itemId)?.seq, "its last opening, and it is open").toBe(seq);
        expect(told.has(seq), "not told before").toBe(false);
        if (isNight) expect(urgency).toBe("blocked");
        told.add(seq);
      }
      record = outbox.begun(record, gathered, next.items, { id: `n-${log.length}`, now });
      gathered = outbox.withoutBegun(gathered, record, next.items);
    } else if (next.do === "send") {
      if (isNight) expect(record.sending?.urgency).toBe("blocked");
      record = canSend ? outbox.sent(record, now) : outbox.failed(record, "no", { now, random: 1 }).outbox;
    }
    return next;
  };

  for (let turn = 0; turn < 120; turn++) {
    const itemId = random.pick(ITEMS);
    switch (random.int(0, 6)) {
      case 0:
      case 1:
        happen(openedBody(itemId, { urgency: random.pick(["blocked", "failed", "finished"]) }));
        break;
      case 2:
        if (open.has(itemId)) happen(clearedBody(itemId, random.pick(["closed", "acknowledged", "snoozed"])));
        break;
      case 3:
        // Only the record and the log are left.
        gathered = outbox.nothingGathered(record);
        break;
      case 4:
        now += random.int(1, 5) * HOUR_MS;
        break;
      default:
        now += random.int(100, 3_000);
    }
    step(random.chance(0.7));
  }
  for (let turn = 0; turn < 100; turn++) {
    const next = step(true);
    if (next.do === "nothing") break;
    if (next.do === "wait") now = next.until;
  }
  expect([...open.values()].filter(({ seq }) => !told.has(seq))).toEqual([]);
  expect(outbox.nextStep(record, gathered, wishes, now)).toEqual({ do: "nothing" });
});
