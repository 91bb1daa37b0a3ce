import { expect, test } from "vitest";
import { momentText, parkedSentence, parkedText } from "./parked.ts";
import type { ClosedQuota } from "./quota.ts";

const now = Date.parse("2026-11-17T08:00:00.000Z");
const quota: ClosedQuota = {
  id: "codex work / primary",
  revision: 1,
  account: "codex work",
  limit: "primary",
  usedPercent: 100,
  resetsAt: now + 300_000,
  confidence: "stated",
  source: "protocol",
  text: "You've hit\n your usage limit.",
  reportedBy: "abc",
  reportedAt: now,
  warned: null,
  gate: { phase: "waiting", sinceAt: now, dueAt: now + 300_000, waitMs: 300_000, failures: 0, canary: null, queue: [] },
};

test("says which limit of whom is reached, and what comes next", () => {
  expect(parkedText(quota, now)).toBe(
    "the limit primary of codex work is reached; it resets at 08:05 UTC (You've hit your usage limit.)",
  );
  expect(parkedText({ ...quota, limit: "unnamed", confidence: "none", text: "" }, now)).toBe(
    "a limit of codex work is reached; Reeve tries again at 08:05 UTC",
  );
  expect(parkedSentence(quota, now)).toBe(
    "Waits until 08:05 UTC: the limit primary of codex work is reached (You've hit your usage limit.).",
  );
  expect(parkedSentence({ ...quota, confidence: "none", text: "" }, now)).toBe(
    "Waits: the limit primary of codex work is reached; Reeve tries again at 08:05 UTC.",
  );
  expect(momentText(now + 86_400_000, now)).toBe("2026-11-18 08:00 UTC");
  expect(momentText(now + 7_000, now)).toBe("08:00:07 UTC");
});
