import { expect, test } from "vitest";
import { isQuiet, isZone, parseQuietHours, quietEndsAt } from "./quiet-hours.ts";

const at = (text: string): number => Date.parse(text);
const berlin = { from: 22 * 60, to: 7 * 60, zone: "Europe/Berlin" };

test("quiet hours are two times of day", () => {
  expect(parseQuietHours("22:00-07:00", "Europe/Berlin")).toEqual(berlin);
  expect(parseQuietHours("12:30-13:15", null)).toEqual({ from: 750, to: 795, zone: null });
  for (const wrong of ["", "22-7", "24:00-07:00", "22:60-07:00", "22:00-22:00", "22:00 - 07:00", "ab:cd-ef:gh"])
    expect(parseQuietHours(wrong, null), wrong).toBeNull();
});

test("a zone is one that IANA knows", () => {
  expect(["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires"].every(isZone)).toBe(true);
  expect(["Mars/Olympus", "", "Berlin", "+02:00", "Europe/../etc"].some(isZone)).toBe(false);
});

test("over midnight, in the zone that is named", () => {
  // 22:00 in Berlin is 21:00 UTC in winter.
  expect(isQuiet(berlin, at("2026-01-10T20:59:59Z"))).toBe(false);
  expect(isQuiet(berlin, at("2026-01-10T21:00:00Z"))).toBe(true);
  expect(isQuiet(berlin, at("2026-01-11T05:59:59Z"))).toBe(true);
  expect(isQuiet(berlin, at("2026-01-11T06:00:00Z"))).toBe(false);
  expect(quietEndsAt(berlin, at("2026-01-10T21:30:12Z"))).toBe(at("2026-01-11T06:00:00Z"));
  expect(quietEndsAt(berlin, at("2026-01-11T05:59:59Z"))).toBe(at("2026-01-11T06:00:00Z"));
});

test("within a day", () => {
  const lunch = { from: 750, to: 795, zone: "Asia/Kathmandu" };
  // Five and three quarter hours before Greenwich.
  expect(isQuiet(lunch, at("2026-05-01T06:44:00Z"))).toBe(false);
  expect(isQuiet(lunch, at("2026-05-01T06:45:00Z"))).toBe(true);
  expect(quietEndsAt(lunch, at("2026-05-01T06:50:00Z"))).toBe(at("2026-05-01T07:30:00Z"));
});

test("the night in which clocks go forward is an hour shorter, the other an hour longer", () => {
  // 2026-03-29: 02:00 becomes 03:00. 07:00 is 05:00 UTC.
  expect(quietEndsAt(berlin, at("2026-03-28T21:30:00Z"))).toBe(at("2026-03-29T05:00:00Z"));
  // 2026-10-25: 03:00 becomes 02:00. 07:00 is 06:00 UTC.
  expect(quietEndsAt(berlin, at("2026-10-24T20:30:00Z"))).toBe(at("2026-10-25T06:00:00Z"));
});

test("an end that the clocks leave out, or pass twice", () => {
  const early = { from: 23 * 60, to: 150, zone: "Europe/Berlin" };
  // 02:30 is not there on this day: the first minute after it is 03:00, 01:00 UTC.
  expect(quietEndsAt(early, at("2026-03-28T23:00:00Z"))).toBe(at("2026-03-29T01:00:00Z"));
  // 02:30 comes first at 00:30 UTC; the hour that is passed again begins with quiet minutes.
  expect(quietEndsAt(early, at("2026-10-24T22:00:00Z"))).toBe(at("2026-10-25T00:30:00Z"));
  expect(isQuiet(early, at("2026-10-25T01:10:00Z"))).toBe(true);
  expect(quietEndsAt(early, at("2026-10-25T01:10:00Z"))).toBe(at("2026-10-25T01:30:00Z"));
});

test("the whole day but a minute is quiet, and that minute is found", () => {
  const nearly = { from: 421, to: 420, zone: "UTC" };
  expect(quietEndsAt(nearly, at("2026-05-01T07:01:00Z"))).toBe(at("2026-05-02T07:00:00Z"));
});
