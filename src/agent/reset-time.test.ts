import { afterEach, expect, test } from "vitest";
import { resetTimeIn, spanOf } from "./reset-time.ts";

const at = Date.parse("2026-11-17T07:48:46Z");
const zone = process.env["TZ"];
afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

test.each([
  // A clock shows minutes: the end of the minute.
  ["You've hit your 5-hour limit · resets 7:52am (UTC)", "2026-11-17T07:53:00Z"],
  ["You've hit your session limit · resets 8pm (America/New_York)", "2026-11-18T01:01:00Z"],
  ["… weekly limit · resets Nov 24, 5pm (UTC)", "2026-11-24T17:01:00Z"],
  ["resets Nov 24 at 5:30pm (Europe/Berlin)", "2026-11-24T16:31:00Z"],
  ["Access resets at 8:09 AM UTC.", "2026-11-17T08:10:00Z"],
  ["Access resets at 9:09 AM GMT+1.", "2026-11-17T08:10:00Z"],
  // It is this minute already, or was: today, and not tomorrow.
  ["try again at Sep 25th, 2026 9:15 AM.", null],
  ["resets 7:48am (UTC)", "2026-11-17T07:49:00Z"],
  ["resets 7:47am (UTC)", "2026-11-18T07:48:00Z"],
  ["resets Jan 2, 5pm (UTC)", "2027-01-02T17:01:00Z"],
  ["Please try again in 11.054s. Visit", "2026-11-17T07:48:57.054Z"],
  ["try again in 3 days 28 minutes.", "2026-11-20T08:16:46Z"],
  ["Please retry in 900ms", "2026-11-17T07:48:46.900Z"],
  ["You will regain access on 2026-12-01 at 00:00 UTC.", "2026-12-01T00:01:00Z"],
])("%s", (text, expected) => {
  const { resetsAt, confidence } = resetTimeIn(text, at);
  if (expected === null) expect(resetsAt).toBeLessThan(at);
  else expect(resetsAt === null ? null : new Date(resetsAt).toISOString()).toBe(new Date(expected).toISOString());
  expect(confidence).toBe("derived");
});

test("a clock without a zone is this machine's, also across a change to winter time", () => {
  process.env["TZ"] = "Europe/Berlin";
  const text = "You’ve hit your usage limit. Visit https://x.test or try again at 9:15 AM.";
  expect(resetTimeIn(text, at).resetsAt).toBe(Date.parse("2026-11-17T08:16:00Z"));
  const evening = Date.parse("2026-10-24T20:00:00Z");
  expect(resetTimeIn("try again at Oct 25th, 2026 9:15 AM.", evening).resetsAt).toBe(
    Date.parse("2026-10-25T08:16:00Z"),
  );
});

test("Unix seconds are stated, everything else is nothing", () => {
  expect(resetTimeIn("Claude AI usage limit reached|1762952400", at)).toEqual({
    resetsAt: 1_762_952_400_000,
    confidence: "stated",
  });
  for (const text of [
    "",
    "try again later",
    "resets soon",
    "resets 25pm",
    "resets 8pm (Middle/Earth)",
    "try again in x",
  ])
    expect(resetTimeIn(text, at), text).toEqual({ resetsAt: null, confidence: "none" });
  expect([spanOf("34.07s"), spanOf("900ms"), spanOf("1h")]).toEqual([34_070, 900, null]);
});
