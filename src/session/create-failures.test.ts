import { expect, test } from "vitest";
import type { Moment } from "../platform/clock.ts";
import { isStartGivenUp } from "./create-failures.ts";

const HOUR_MS = 3_600_000;
const since: Moment = { at: HOUR_MS, boot: "b", upMs: 1_000 };
const tried = (count: number) => ({ count, sinceAt: since.at, since });
const after = (ms: number, clockSetBy = 0): Moment => ({
  at: since.at + ms + clockSetBy,
  boot: since.boot,
  upMs: since.upMs + ms,
});
const MINUTE = { afterMs: 60_000 };

test("a start is given up when it has failed often enough, for as long as its time-out says", () => {
  expect(isStartGivenUp(null, MINUTE, after(HOUR_MS))).toBe(false);
  expect(isStartGivenUp(tried(3), MINUTE, after(HOUR_MS))).toBe(false);
  expect(isStartGivenUp(tried(4), MINUTE, after(59_999))).toBe(false);
  expect(isStartGivenUp(tried(4), MINUTE, after(60_000))).toBe(true);
  expect(isStartGivenUp(tried(400), MINUTE, after(59_999))).toBe(false);
});

test("one whose start has no time-out is given up after the usual time, not never", () => {
  expect(isStartGivenUp(tried(9), { afterMs: null }, after(59_999))).toBe(false);
  expect(isStartGivenUp(tried(9), { afterMs: null }, after(60_000))).toBe(true);
});

test.each([
  ["back", -HOUR_MS],
  ["forward", HOUR_MS],
])("a wall clock that was set %s changes nothing", (_where, setBy) => {
  expect(isStartGivenUp(tried(9), MINUTE, after(59_999, setBy))).toBe(false);
  expect(isStartGivenUp(tried(9), MINUTE, after(60_000, setBy))).toBe(true);
});

test("after a start of the machine at least its own age has passed", () => {
  const early: Moment = { at: 0, boot: "next", upMs: 60_000 };
  expect(isStartGivenUp(tried(9), MINUTE, early)).toBe(true);
  expect(isStartGivenUp(tried(9), MINUTE, { ...early, upMs: 59_999 })).toBe(false);
});

test("what an earlier version wrote is judged by the wall clock, the only one it knew", () => {
  const old = { count: 9, sinceAt: since.at, since: null };
  expect(isStartGivenUp(old, MINUTE, after(59_999))).toBe(false);
  expect(isStartGivenUp(old, MINUTE, after(60_000))).toBe(true);
});
