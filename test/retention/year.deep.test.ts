/**
 * A fleet that runs for a year does not grow without bound. Here a
 * month with a few sessions a day, of which a week is kept. The year of 200
 * sessions a day, which takes some ten minutes:
 *
 *   REEVE_TEST_YEAR_DAYS=365 REEVE_TEST_YEAR_SESSIONS=200 vitest run test/retention/year.deep.test.ts
 */
import { expect, test } from "vitest";
import { defaultRetention } from "../../src/fleet/retention-settings.ts";
import { type Day, simulate } from "./year.ts";

const DAY = 86_400_000;
const days = Number(process.env["REEVE_TEST_YEAR_DAYS"] ?? 24);
const perDay = Number(process.env["REEVE_TEST_YEAR_SESSIONS"] ?? 8);
const isLong = days >= 90;
const kept = isLong ? 30 : 6;

test("size on disk and memory are bounded", { timeout: 3_600_000 }, async () => {
  const settings = isLong ? {} : { endedMs: kept * DAY, eventsMs: kept * DAY, mailMs: kept * DAY };
  const { days: measured, ratios } = await simulate({
    compares: isLong,
    days,
    perDay,
    living: 20,
    settings,
    seed: "year",
    measureEvery: isLong ? 30 : 4,
    onDay: (day) => void (isLong && console.log(lineOf(day))),
  });
  const last = measured.at(-1);
  // The first that was measured after as much was there as is kept.
  const full = measured.find(({ day }) => day > 2 * kept);
  if (last === undefined || full === undefined) throw new Error("nothing was measured");
  const most = Math.min(perDay * (kept + 1), defaultRetention.endedSessions) + 20 + 5;
  for (const { sessions } of measured) expect(sessions).toBeLessThanOrEqual(most);
  expect(last.events).toBeLessThanOrEqual(1.2 * full.events);
  expect(last.databaseBytes).toBeLessThanOrEqual(1.2 * full.databaseBytes);
  expect(last.outputsBytes).toBeLessThanOrEqual(1.2 * full.outputsBytes);
  if (ratios === null) return;
  expect(last.heapBytes).toBeLessThanOrEqual(1.2 * full.heapBytes);
  console.log(`against a home of one day: list ${ratios.list.toFixed(2)}x, events ${ratios.events.toFixed(2)}x`);
});

function lineOf(day: Day): string {
  const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MB`;
  return [
    `day ${day.day}:`,
    `${day.sessions} sessions, ${day.events} events,`,
    `database ${megabytes(day.databaseBytes)}, outputs ${megabytes(day.outputsBytes)}, heap ${megabytes(day.heapBytes)},`,
    `prune ${day.pruneMs.toFixed(0)} ms, held up ${day.heldUpMs.toFixed(0)} ms`,
  ].join(" ");
}
