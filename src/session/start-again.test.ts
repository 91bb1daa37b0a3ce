/** What a death leads to, by the session's restart policy. */
import { describe, expect, test } from "vitest";
import { amend, type Amendment } from "./amend.ts";
import type { Command, Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import { MOST_RESTARTS } from "./restart-policy.ts";
import { type DeathCause, NO_RESTARTS, type RestartPolicy } from "./restart-record.ts";
import { created, exitedWith, read, run, types } from "./run-inputs.ts";
import { evidence, place, plannedSession, shown } from "./session-fixture.ts";

const cleared: Input = { type: "cleared", incarnation: 1, isPlaceGone: false, evidence };
const setTo = (policy: RestartPolicy): Command => ({ type: "set-restart-policy", policy });
const withPolicy = (restartPolicy: RestartPolicy, changes: Amendment = {}) =>
  plannedSession({ identity: { ...plannedSession().identity, restartPolicy }, ...changes });
const restartedOften = (cause: DeathCause = "own") => {
  const restart = { at: 1_000, boot: "", upMs: 1_000, cause, isOvercome: false };
  return { ...NO_RESTARTS, count: MOST_RESTARTS, recent: Array.from({ length: MOST_RESTARTS }, () => restart) };
};

describe("a death", () => {
  test("is followed by a pause that says which attempt comes next, and then by a start that counts", () => {
    const dead = run(withPolicy("on-failure"), created, exitedWith(1), cleared);
    expect(dead.session.reason.text).toBe("Its process exited with status 1. Starting again in 1 s (attempt 1 of 10).");
    expect(types(dead.events).slice(-4)).toEqual([
      "session-exited",
      "session-errored",
      "restart-scheduled",
      "session-cleared",
    ]);
    expect(dead.session.process.restart.dueAt).toBe(2_750);
    const again = run(dead.session, { type: "restart-due" }).session;
    expect(again).toMatchObject({ state: "starting", process: { incarnation: 2, restart: { count: 1, dueAt: null } } });
    expect(again.process.restart.recent).toMatchObject([{ cause: "own", isOvercome: false }]);
  });

  test("with others that come first says so, and is still due", () => {
    const dead = run(withPolicy("always"), created, exitedWith(0), cleared).session;
    const later = run(dead, { type: "restart-postponed", waitMs: 8_200 });
    expect(later.session).toMatchObject({
      reason: {
        text: "Its process exited with status 0. Starting again in about 9 s (attempt 1 of 10): other sessions are started first.",
      },
      process: { restart: { dueAt: 10_200 } },
    });
    expect(run(later.session, { type: "restart-due" }).session.state).toBe("starting");
  });

  test.each([
    ["exited with status 0", { code: 0, signal: null }],
    ["exited with status 1", { code: 1, signal: null }],
    ["was killed by SIGSEGV", { code: null, signal: "SIGSEGV" }],
  ])("too often is the last, with the reason, and told once: %s", (what, how) => {
    const { session, events } = run(
      withPolicy("always", { process: { ...plannedSession().process, restart: restartedOften() } }),
      created,
      { type: "found-exited", incarnation: 1, ...how, evidence },
      { ...cleared, lastLine: "no fuel" },
      cleared,
    );
    const text = `Its process ${what}. Not started again: it was started 10 times since 1970-01-01T00:00:01.000Z, and each time it ended. Look at its data, then use restart. Last on its screen: no fuel`;
    expect(session).toMatchObject({
      state: "error",
      reason: { code: "restarts-exhausted", text },
      process: { restart: { dueAt: null } },
    });
    expect(events.filter(({ type }) => type === "restart-abandoned")).toEqual([
      { type: "restart-abandoned", reason: session.reason },
    ]);
    expect(types(events)).toContain("session-errored");
    expect(types(events)).not.toContain("session-stopped");
  });

  test("together with all others is not its own: it counts by itself", () => {
    const { session } = run(
      withPolicy("on-failure", { process: { ...plannedSession().process, restart: restartedOften() } }),
      created,
      { type: "found-absent", incarnation: 1, asked: place, isShared: true, evidence },
      cleared,
      { type: "restart-due" },
    );
    expect(session.process.restart.recent.at(-1)).toMatchObject({ cause: "shared" });
  });

  test("that would happen again is not repeated, and that is said", () => {
    const failedTurn = { phase: "failed", error: "Please run /login", failure: "not-logged-in" } as const;
    const { session, events } = run(
      withPolicy("on-failure"),
      created,
      read({ turn: { phase: "started" } }),
      read({ turn: failedTurn }),
      exitedWith(1),
    );
    expect(session.reason.text).toBe(
      "Its process exited with status 1. Not started again, because it would fail the same way: Its agent is not logged in. Log in as the agent says, then send the message again.",
    );
    expect(types(events)).not.toContain("restart-scheduled");
    // A person has logged in since, and started it again.
    const secondCreated = { type: "created", incarnation: 2, place, shown, evidence } as const;
    const again = run(session, { type: "restart", graceMs: 0 }, cleared, secondCreated).session;
    const { lastTurn } = again.conversation;
    const since = amend(again, { conversation: { lastTurn: lastTurn && { ...lastTurn, startedAt: 1_999 } } });
    const died = run(since, { type: "found-exited", incarnation: 2, code: 1, signal: null, evidence }).session;
    expect([died.conversation.lastTurn?.failure, died.process.restart.dueAt]).toEqual(["not-logged-in", 2_750]);
    const failed = run(withPolicy("always"), {
      type: "create-failed",
      incarnation: 1,
      code: "command-not-found",
      evidence: { ...evidence, detail: "There is no program" },
    }).session;
    expect(failed.reason.text).toBe(
      "There is no program. Not started again, although its restart policy is always: it would fail the same way.",
    );
  });
});

describe("a restart on request", () => {
  test("goes at once and forgets what died before", () => {
    const dead = run(
      withPolicy("always", { process: { ...plannedSession().process, restart: restartedOften() } }),
      created,
      exitedWith(1),
      cleared,
      { type: "restart", graceMs: 0 },
      cleared,
    ).session;
    expect(dead).toMatchObject({ state: "starting", process: { restart: { recent: [], count: 11 } } });
  });

  test("an end cancels what waits", () => {
    const ended = run(withPolicy("always"), created, exitedWith(1), cleared, {
      type: "end",
      graceMs: 0,
      afterTurn: false,
    }).session;
    expect([ended.process.restart.dueAt, pendingEffect(ended)?.kind]).toEqual([null, "stop"]);
    expect(run(ended, { type: "restart-due" }).session).toBe(ended);
  });
});

describe("a change of the policy", () => {
  test("of a living session counts at its next death", () => {
    const { session, events } = run(withPolicy("never"), created, setTo("always"), exitedWith(0));
    expect(events).toContainEqual({ type: "restart-policy-changed", from: "never", policy: "always" });
    expect(session.process.restart.dueAt).not.toBeNull();
    expect(session.wish.lastCommand).toMatchObject({ type: "set-restart-policy", by: "operator" });
  });

  test.each([
    ["always", 1, "never", null],
    ["always", 0, "on-failure", null],
    ["always", 1, "on-failure", 2_750],
    ["never", 1, "on-failure", 2_750],
    ["never", 0, "on-failure", null],
    ["on-failure", 0, "always", 2_750],
  ] as const)("of a dead one: %s, exit %i, then %s", (before, code, after, dueAt) => {
    const { session } = run(withPolicy(before), created, exitedWith(code), cleared, setTo(after));
    expect(session.process.restart.dueAt).toBe(dueAt);
    expect(session.reason.text).toMatch(
      dueAt === null ? /status \d\.$|now (?:never|on-failure)\.$/ : /attempt 1 of 10/,
    );
  });

  test("to what it is changes nothing, and wakes nobody who asked for nothing", () => {
    const running = run(withPolicy("always"), created).session;
    expect(run(running, setTo("always"))).toEqual({ session: running, events: [] });
    const ended = run(
      running,
      { type: "end", graceMs: 0, afterTurn: false },
      { ...cleared, isPlaceGone: true },
    ).session;
    const changed = run(ended, setTo("on-failure"), setTo("always")).session;
    expect([changed.state, changed.process.restart.dueAt]).toEqual(["stopped", null]);
    const given = run(withPolicy("never"), { type: "create-failed", incarnation: 1, code: "x", evidence }).session;
    expect(run(given, setTo("always")).session).toMatchObject({
      reason: given.reason,
      process: { restart: { dueAt: null } },
    });
    const alive = run(running, { type: "found-running", incarnation: 1, place, shown, evidence, adopted: false });
    expect(run(alive.session, setTo("never")).session.state).toBe("running");
  });
});
