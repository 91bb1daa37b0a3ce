import { expect, test } from "vitest";
import type { DueEvent } from "./due-wake.ts";
import { wakeLine } from "./wake-line.ts";

const event = (seq: number, name: string, reason: DueEvent["reason"]): DueEvent => ({
  seq,
  sessionId: `id-of-${name}`,
  name,
  reason,
  at: 1,
});

test("one event", () => {
  expect(wakeLine({ since: 7, through: 12, mails: [], events: [event(12, "fix", "exited")] })).toBe(
    "[reeve] wake 12: 1 event for you since 7: fix exited. Not from your user. Truth: reeve list, reeve events --since 7, or the tool wait_for_session.",
  );
});

test("several: of each session the last, the most urgent first, and how many more", () => {
  const due = [
    event(8, "docs", "turn-completed"),
    event(9, "fix", "awaiting-approval"),
    event(10, "lint", "turn-failed"),
    event(11, "docs", "turn-completed"),
    event(12, "build", "exited"),
  ];
  const line = wakeLine({ since: 7, through: 12, mails: [], events: due });
  expect(line).toContain("5 events for you since 7: build exited, fix awaiting-approval, lint turn-failed (+2 more). ");
  expect(line).not.toMatch(/[\n\u0000-\u001f]/);
});

test("one that a time-out ended says so", () => {
  const ended = { ...event(12, "fix", "exited"), timedOut: "idle" } as const;
  expect(wakeLine({ since: 7, through: 12, mails: [], events: [ended] })).toContain(": fix exited (idle time-out). ");
});

test("a storm stays one short line", () => {
  const due = Array.from({ length: 500 }, (_, index) => event(index + 1, `w${"x".repeat(60)}-${index}`, "exited"));
  expect(wakeLine({ since: 0, through: 500, mails: [], events: due }).length).toBeLessThan(420);
});

test("mail: how many, how many of them are hand-offs, and nothing of what they say", () => {
  const mails = [{ kind: "note" }, { kind: "hand-off" }] as const;
  expect(wakeLine({ since: 7, through: 12, events: [], mails })).toBe(
    "[reeve] wake 12: 2 unread mails for you (1 hand-off). Not from your user. Truth: reeve mail check, or the tool check_mail.",
  );
  const line = wakeLine({ since: 7, through: 12, events: [event(11, "fix", "exited")], mails: mails.slice(0, 1) });
  expect(line).toBe(
    "[reeve] wake 12: 1 event for you since 7: fix exited; 1 unread mail for you. Not from your user. Truth: reeve list, reeve events --since 7, reeve mail check, or the tools wait_for_session and check_mail.",
  );
});

test("a restart in the middle of a turn comes first, and names recover", () => {
  expect(wakeLine({ since: 7, through: 7, events: [], mails: [], cutTurn: 3 })).toBe(
    "[reeve] wake 7: you were restarted in the middle of turn 3, look before you go on. Not from your user. Truth: reeve recover, or the tool recover.",
  );
  const all = wakeLine({
    since: 7,
    through: 12,
    events: [event(11, "fix", "exited")],
    mails: [{ kind: "hand-off" }],
    cutTurn: 3,
  });
  expect(all).toMatch(/^\[reeve\] wake 12: you were restarted in the middle of turn 3, .*; 1 event .*; 1 unread mail /);
  expect(all).toContain(", or the tools recover, wait_for_session and check_mail.");
});
