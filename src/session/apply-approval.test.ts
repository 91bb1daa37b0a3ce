import { describe, expect, test } from "vitest";
import type { ApprovalRequest, Decision } from "./approval.ts";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import { exitedWith, read, run, runningSession, types } from "./run-inputs.ts";
import type { Session } from "./session.ts";
import { context, evidence, place } from "./session-fixture.ts";
import { transition } from "./transition.ts";

const request: ApprovalRequest = {
  id: "p",
  kind: "command",
  title: "Run rm?",
  subject: "rm -r /tmp/x",
  cwd: "/w",
  reason: "to tidy up",
};
const started = read({ turn: { phase: "started", id: "t" } });
const asked = read({ approval: { requested: request } });
const other = read({ approval: { requested: { ...request, id: "q", title: "Run ls?" } } });
const settled = (id: string | null, decision: Decision | null): Input =>
  read({ approval: { settled: { id, decision } } });
const answer = (decision: Decision, approvalId = "p"): Input => ({ type: "answer", approvalId, decision });
const given: Input = { type: "answer-given", incarnation: 1, approvalId: "p" };

const asking = (): Session => run(runningSession(), started, asked).session;
const answered = (): Session => run(asking(), answer("approved"), given).session;
const settlements = (events: readonly SessionEvent[]) =>
  events.flatMap((event) =>
    event.type === "approval-settled" ? [{ id: event.approvalId, decision: event.decision, by: event.by }] : [],
  );

describe("asking", () => {
  test("is recorded whole, told once and shown as what is asked", () => {
    const { session, events } = run(
      runningSession(),
      started,
      asked,
      asked,
      read({ source: "protocol", approval: { requested: request } }),
    );
    expect(session.conversation.approvals).toEqual([
      { ...request, requestedAt: context.now, choices: null, concerns: null, answer: null },
    ]);
    expect(session.conversation.activity).toMatchObject({ status: "awaiting-approval", asks: "Run rm?" });
    expect(events.filter(({ type }) => type === "approval-requested")).toEqual([
      {
        type: "approval-requested",
        approval: request,
        evidence: { source: "hook", detail: "a hook", at: context.now },
      },
    ]);
  });

  test("two things: the oldest is shown, and the agent asks until both are settled", () => {
    const both = run(runningSession(), started, asked, other).session;
    expect([both.conversation.approvals.map(({ id }) => id), both.conversation.activity.asks]).toEqual([
      ["p", "q"],
      "Run rm?",
    ]);
    const one = run(both, settled("p", "approved")).session;
    expect(one).toMatchObject({
      conversation: { activity: { status: "awaiting-approval" }, approvals: [{ id: "q" }] },
    });
    expect(run(one, settled("q", "denied")).session).toMatchObject({
      conversation: { activity: { status: "working" }, approvals: [] },
    });
  });

  test("what a screen shows of it does not replace the question in full", () => {
    const seen = read({ source: "screen", activity: "awaiting-approval", asks: "rm…" });
    expect(run(asking(), seen).session.conversation.activity.asks).toBe("Run rm?");
  });

  test("after the exit is no question", () => {
    const dead = run(runningSession(), exitedWith(0)).session;
    expect(run(dead, asked)).toEqual({ session: dead, events: [] });
  });
});

describe("answering through Reeve", () => {
  test("wanted, given, settled by the operator", () => {
    const wanted = run(asking(), answer("approved"));
    expect(wanted.session.conversation.approvals).toMatchObject([
      { answer: { decision: "approved", stage: "wanted", at: 2_000 } },
    ]);
    expect(wanted.events).toEqual([
      { type: "approval-answer-requested", approvalId: "p", decision: "approved", turn: 1 },
    ]);
    expect(pendingEffect(wanted.session)).toEqual({ kind: "answer", incarnation: 1, approvalId: "p" });
    const pressed = run(wanted.session, given);
    expect([pressed.session.conversation.approvals[0]?.answer?.stage, pressed.events]).toEqual(["given", []]);
    const { session, events } = run(pressed.session, settled("p", null));
    expect(settlements(events)).toEqual([{ id: "p", decision: "approved", by: "operator" }]);
    expect(session).toMatchObject({ conversation: { approvals: [], activity: { status: "working" } } });
    expect(pendingEffect(session)).toBeNull();
  });

  test("the agent confirms it, or says otherwise", () => {
    expect(settlements(run(answered(), settled("p", "approved")).events)).toEqual([
      { id: "p", decision: "approved", by: "operator" },
    ]);
    expect(settlements(run(answered(), settled("p", "denied")).events)).toEqual([
      { id: "p", decision: "denied", by: "pane" },
    ]);
  });

  test("an answer that was only wanted is not what settled it", () => {
    const wanted = run(asking(), answer("approved")).session;
    expect(settlements(run(wanted, settled("p", "denied")).events)).toEqual([
      { id: "p", decision: "denied", by: "pane" },
    ]);
    expect(settlements(run(wanted, read({ activity: "working" })).events)).toEqual([
      { id: "p", decision: null, by: "agent" },
    ]);
  });

  test("a crash after it was given: still to be verified, and on record as given", () => {
    const effect = pendingEffect(answered());
    expect(effect).toEqual({ kind: "answer", incarnation: 1, approvalId: "p" });
    expect(answered().conversation.approvals[0]?.answer).toMatchObject({ stage: "given" });
    expect(run(answered(), answer("approved")).session).toEqual(answered());
  });

  test("the same answer again changes nothing, a contradictory or stale one is refused", () => {
    const wanted = run(asking(), answer("approved")).session;
    expect(transition(wanted, answer("approved"), context)).toEqual({ refused: null, session: wanted, events: [] });
    expect(transition(wanted, answer("denied"), context)).toMatchObject({ refused: { code: "approval-answered" } });
    expect(transition(answered(), answer("denied"), context)).toMatchObject({ refused: { code: "approval-answered" } });
    expect(transition(asking(), answer("approved", "q"), context)).toMatchObject({
      refused: { code: "approval-stale" },
    });
    const over = run(asking(), settled(null, "approved")).session;
    expect(transition(over, answer("denied"), context)).toMatchObject({ refused: { code: "approval-stale" } });
  });

  test("a failed one may be tried again, with another decision", () => {
    const reason = { code: "approval-not-on-screen", text: "It is not there.", evidence };
    const failed = run(answered(), { type: "answer-failed", incarnation: 1, approvalId: "p", reason });
    expect(failed.events).toEqual([{ type: "approval-answer-failed", approvalId: "p", reason }]);
    expect(failed.session.conversation.approvals[0]?.answer).toBeNull();
    expect(pendingEffect(failed.session)).toBeNull();
    expect(pendingEffect(run(failed.session, answer("denied")).session)).toMatchObject({ kind: "answer" });
  });

  test("what came of an answer to a question that is gone changes nothing", () => {
    const over = run(answered(), settled("p", null)).session;
    const reason = { code: "x", text: "x", evidence };
    for (const input of [given, { type: "answer-failed", incarnation: 1, approvalId: "p", reason } as const])
      expect(run(over, input)).toEqual({ session: over, events: [] });
    expect(run(asking(), given).session).toEqual(asking());
  });
});

describe("an answer is given only while the session takes input", () => {
  const wanted = (): Session => run(asking(), answer("approved")).session;

  test.each<[string, readonly Input[], string | null]>([
    ["running", [], "answer"],
    ["unreachable", [{ type: "found-unreachable", incarnation: 1, asked: place, evidence }], null],
    ["paused", [{ type: "pause", mode: "detach" }], null],
    ["to be suspended", [{ type: "pause", mode: "suspend" }], "suspend"],
    [
      "suspended",
      [
        { type: "pause", mode: "suspend" },
        { type: "suspended", incarnation: 1, evidence },
      ],
      null,
    ],
    ["resumed", [{ type: "pause", mode: "detach" }, { type: "resume" }], "answer"],
    ["being ended", [{ type: "end", graceMs: 0, afterTurn: false }], "stop"],
    ["dead", [exitedWith(1)], "stop"],
  ])("%s", (_what, inputs, kind) => {
    expect(pendingEffect(run(wanted(), ...inputs).session)?.kind ?? null).toBe(kind);
  });
});

describe("no longer asked", () => {
  test("answered in the pane", () => {
    expect(settlements(run(asking(), settled(null, "denied")).events)).toEqual([
      { id: "p", decision: "denied", by: "pane" },
    ]);
    expect(settlements(run(asking(), settled("p", null)).events)).toEqual([{ id: "p", decision: null, by: "pane" }]);
    expect(run(asking(), settled("unheard-of", "approved"))).toEqual({ session: asking(), events: [] });
  });

  test.each<[string, Input]>([
    ["the turn ended", read({ turn: { phase: "completed", id: "t" } })],
    ["the turn was interrupted", read({ turn: { phase: "interrupted" } })],
    ["it went on working", read({ source: "screen", activity: "working" })],
    ["another turn began", read({ turn: { phase: "started", id: "u" } })],
    ["the process died", exitedWith(1)],
    ["the process is gone", { type: "found-absent", incarnation: 1, asked: place, evidence }],
  ])("%s: lapsed, unless it had been answered", (_what, input) => {
    const { session, events } = run(asking(), input);
    expect(settlements(events)).toEqual([{ id: "p", decision: null, by: "agent" }]);
    expect(session.conversation.approvals).toEqual([]);
    expect(settlements(run(answered(), input).events)).toEqual([{ id: "p", decision: "approved", by: "operator" }]);
  });

  test("death tells of the questions before the exit", () => {
    expect(types(run(asking(), exitedWith(1)).events).slice(0, 2)).toEqual(["approval-settled", "session-exited"]);
  });

  test("the end of an earlier turn, told late, settles nothing", () => {
    const late = read({ source: "transcript", activity: "idle", turn: { phase: "completed", id: "earlier" } });
    const before = [
      read({ turn: { phase: "started", id: "earlier" } }),
      read({ turn: { phase: "completed", id: "earlier" } }),
    ];
    const second = run(runningSession(), ...before, read({ turn: { phase: "started", id: "now" } }), asked).session;
    expect(run(second, late)).toEqual({ session: second, events: [] });
  });
});

describe("a dialog on the screen", () => {
  const choices = { approved: "Yes", denied: "No, exit" };
  const dialog = (id: string): Input =>
    read({
      source: "screen",
      activity: "awaiting-approval",
      approval: { requested: { ...request, id, kind: "other", title: `Trust ${id}?` }, choices },
    });
  const open = (session: Session): readonly string[] => session.conversation.approvals.map(({ id }) => id);
  const shown = run(runningSession(), dialog("p"));

  test("is asked once, with its choices", () => {
    expect(run(shown.session, dialog("p")).events).toEqual([]);
    expect(shown.session.conversation).toMatchObject({
      approvals: [{ id: "p", choices }],
      activity: { asks: "Trust p?" },
    });
  });

  test("is over when another one is there, or a question that the agent tells", () => {
    for (const next of [dialog("q"), other]) {
      const { session, events } = run(shown.session, next);
      expect(open(session)).toEqual(["q"]);
      expect(types(events)).toEqual(["approval-settled", "approval-requested", "activity-changed"]);
      expect(settlements(events)).toEqual([{ id: "p", decision: null, by: "pane" }]);
    }
  });

  test("does not stand beside a question that the agent told", () => {
    expect(open(run(asking(), dialog("q")).session)).toEqual(["p"]);
  });

  test.each<[Decision, Decision | null]>([
    ["denied", "denied"],
    ["approved", null],
  ])("that was %s when the process ended: %s", (decision, known) => {
    const { events } = run(shown.session, answer(decision), given, exitedWith(1));
    expect(settlements(events)).toMatchObject([{ id: "p", decision: known }]);
  });
});
