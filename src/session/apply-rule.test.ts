/** A question that an approval rule decides is answered in the commit that records it, and tells nobody. */
import { expect, test } from "vitest";
import { amend, type Amendment } from "./amend.ts";
import { isAsk } from "./ask.ts";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { context, evidence, place, plannedSession } from "./session-fixture.ts";
import { transition } from "./transition.ts";
import { wakeReasonOf } from "./wake.ts";

const request = { id: "q1", kind: "command", title: "Run: ls", subject: "ls", cwd: null, reason: null } as const;
const asks: Input = {
  type: "read",
  incarnation: 1,
  reading: { source: "hook", detail: "a hook", activity: "awaiting-approval", approval: { requested: request } },
};
const rulingOn = () => ({ rule: "may list", decision: "approved" }) as const;
const running = (changes: Amendment = {}) =>
  amend(
    plannedSession({
      state: "running",
      process: { incarnation: 1, place, liveness: { status: "running", evidence } },
      conversation: { turnOpen: true, turns: 1, activity: { status: "working", asks: null, evidence } },
    }),
    changes,
  );
const asked = (ruled: boolean, changes: Amendment = {}) => {
  const outcome = transition(running(changes), asks, { ...context, ...(ruled ? { rulingOn } : {}) });
  if (outcome.refused !== null) throw new Error(outcome.refused.message);
  return outcome;
};
const wakes = (events: readonly SessionEvent[]) =>
  events.map((body) => wakeReasonOf({ seq: 1, at: 1, sessionId: "abc", caller: null, body })).filter(Boolean);

test("what a rule decides wakes nobody, and is nothing that somebody asked for", () => {
  const { session, events } = asked(true);
  expect(session.conversation.approvals).toMatchObject([
    { id: "q1", answer: { decision: "approved", stage: "wanted", by: "system", rule: "may list" } },
  ]);
  expect(session.wish.lastCommand).toMatchObject({ type: "answer", by: "system" });
  expect(events).toMatchObject([
    { type: "approval-requested", rule: "may list" },
    { type: "activity-changed" },
    { type: "approval-answer-requested", rule: "may list" },
  ]);
  expect([wakes(events), events.some(isAsk)]).toEqual([[], false]);
});

test("if the agent does not take the answer, the question waits for a person, who is told", () => {
  const reason = { code: "answer-not-taken", text: "It still asks.", evidence };
  const failed: Input = { type: "answer-failed", incarnation: 1, approvalId: "q1", reason };
  const outcome = transition(asked(true).session, failed, { ...context, rulingOn });
  if (outcome.refused !== null) throw new Error(outcome.refused.message);
  expect(outcome.session.conversation.approvals).toMatchObject([{ id: "q1", answer: null }]);
  expect(wakes(outcome.events)).toEqual(["awaiting-approval"]);
});

test("without a rule, and of a record that came from a file, nothing is answered", () => {
  const held = { wish: { held: { reason: "the database was lost", until: null } } };
  for (const { session, events } of [asked(false), asked(true, held)]) {
    expect(session.conversation.approvals).toMatchObject([{ id: "q1", answer: null }]);
    expect(wakes(events)).toEqual(["awaiting-approval"]);
  }
});
