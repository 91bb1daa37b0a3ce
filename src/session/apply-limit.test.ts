/** What a reading about a limit leaves in the record. */
import { expect, test } from "vitest";
import { failedTurnOf } from "./apply-limit.ts";
import type { LimitReading } from "./limit.ts";
import type { Reading } from "./reading.ts";
import { read, run, runningSession } from "./run-inputs.ts";
import { context } from "./session-fixture.ts";

const working = run(runningSession(), read({ activity: "working", turn: { phase: "started", id: "t" } })).session;
const rejected: LimitReading = {
  limit: "five_hour",
  status: "rejected",
  usedPercent: 100,
  resetsAt: context.now + 5_000,
  confidence: "stated",
  text: "come back later",
};
const failed = { phase: "failed", id: "t", error: "429", failure: "rate-limit" } as const;
const noted = { limit: "five_hour", usedPercent: 100, resetsAt: context.now + 5_000, confidence: "stated" };

const after = (reading: Partial<Reading>) => run(working, read(reading)).session;

test("a turn that fails because of a limit is noted with the limit, or without its name", () => {
  const named = after({ turn: failed, limits: [rejected] });
  expect(named.quota).toMatchObject({ rejections: [noted], failed: { turn: 1, resumesItself: false } });
  expect(failedTurnOf(named)).toEqual({ turn: 1, resumesItself: false });
  const unnamed = after({ turn: failed });
  expect(unnamed.quota).toMatchObject({
    rejections: [{ limit: null, resetsAt: null, text: "429" }],
    failed: { turn: 1 },
  });
  expect(after({ turn: { ...failed, failure: "billing" } }).quota).toMatchObject({ rejections: [], failed: null });
});

test("what another source adds to the same failure counts, unless it is about the past", () => {
  const first = after({ turn: failed });
  const more = (reading: Partial<Reading>) => run(first, read({ source: "transcript", ...reading })).session.quota;
  expect(more({ turn: failed, limits: [{ ...rejected, resumesItself: true }] })).toMatchObject({
    rejections: [{ limit: null }, noted],
    failed: { turn: 1, resumesItself: true },
  });
  const past = { ...rejected, resetsAt: 1 };
  expect(more({ turn: failed, limits: [past] })).toEqual(first.quota);
  expect(more({ limits: [rejected], isHistory: true })).toEqual(first.quota);
  expect(more({ limits: [{ ...rejected, status: "warning" }] })).toEqual(first.quota);
});

test("the next turn, or a wish of somebody, ends what was left to continue", () => {
  const session = after({ turn: failed, limits: [rejected] });
  expect(failedTurnOf(run(session, read({ turn: { phase: "started", id: "u" } })).session)).toBeNull();
  expect(failedTurnOf(run(session, { type: "pause", mode: "detach" }).session)).toBeNull();
  expect(failedTurnOf(run(session, { type: "seen", revision: session.revision }).session)).not.toBeNull();
});
