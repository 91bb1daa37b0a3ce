/** What of a session needs a person, from its record alone. */
import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { amend, type Amendment } from "../session/amend.ts";
import { applyReading } from "../session/apply-reading.ts";
import { NO_RESTARTS } from "../session/restart-record.ts";
import { isEnded, type Session } from "../session/session.ts";
import { anyInput, context, plannedSession } from "../session/session-fixture.ts";
import { transition } from "../session/transition.ts";
import type { Condition } from "./inbox.ts";
import { conditionsOf } from "./inbox-condition.ts";
import { whyOver } from "./inbox-text.ts";

const around = { hasMessages: false, hasParent: false };
const evidence = { source: "hook", detail: "a hook", at: 5 } as const;
const running: Amendment = {
  state: "running",
  identity: { name: "one" },
  process: { incarnation: 1, liveness: { status: "running", evidence } },
  conversation: { activity: { status: "idle", asks: null, evidence } },
};
const session = (changes: Amendment): Session => amend(plannedSession(running), changes);
const of = (changes: Amendment): readonly Condition[] =>
  conditionsOf(session(changes), around).map(({ condition }) => condition);
const asking = (asks: string | null): Amendment => ({
  conversation: { activity: { status: "awaiting-input", asks, evidence } },
});

describe("what needs a person", () => {
  test("nothing, of one that works or rests, or is being ended", () => {
    expect(of({})).toEqual([]);
    expect(of({ ...asking("Why?"), wish: { desired: "stopped" } })).toEqual([]);
  });

  test("but one that ends after its turn still asks", () => {
    const stop = { next: "stopped", graceMs: 1, afterTurn: true, by: "operator", timedOut: null } as const;
    expect(of({ ...asking("Why?"), wish: { desired: "stopped", stop } })).toMatchObject([{ kind: "question" }]);
  });

  test("a process that hangs in a turn, however long its silence is, is one thing", () => {
    const working = { status: "working", asks: null, evidence } as const;
    const pulse = { verdict: "hung", evidence: { ...evidence, detail: "all of it is stopped" } } as const;
    const turn = { turnOpen: true, turns: 2, activity: working };
    const hung = { process: { place: {}, pulse }, conversation: turn };
    const [one] = of(hung);
    expect(one).toMatchObject({ kind: "stall", title: "one hangs: its process does not run", sinceAt: 5 });
    expect(one?.happened).toContain("all of it is stopped");
    expect(of({ ...hung, conversation: { ...turn, stalledAt: 9 } }).map(({ id }) => id)).toEqual([one?.id]);
  });

  test("a program that ended well has finished, unless its restart policy starts it again", () => {
    const exit = { code: 0, signal: null, at: 5 };
    const ended: Amendment = { state: "stopped", process: { exit }, notice: { newsRevision: 1 } };
    expect(of(ended)).toMatchObject([{ kind: "finished" }]);
    expect(of({ ...ended, process: { exit, restart: { ...NO_RESTARTS, dueAt: 9 } } })).toEqual([]);
  });

  test("a turn that a crash cut off, once its process is back and until somebody has looked", () => {
    const turn = {
      startedAt: 1,
      id: "t",
      error: null,
      failure: null,
      verdictSource: null,
      isEnding: false,
      stops: 0,
      prolonged: 0,
    } as const;
    const cutOff: Amendment = {
      conversation: { turns: 1, lastTurn: { ...turn, verdict: null, earlier: [], inferred: [] } },
      notice: { newsRevision: 2 },
    };
    expect(of(cutOff)).toMatchObject([{ kind: "failure", answers: ["reply", "end", "acknowledge", "snooze"] }]);
    expect(of({ ...cutOff, notice: { newsRevision: 2, seenRevision: 2 } })).toEqual([]);
    const exit = { code: 1, signal: null, at: 5 };
    expect(of({ ...cutOff, process: { exit, restart: { ...NO_RESTARTS, dueAt: 9 } } })).toEqual([]);
  });

  test("what lasted too long and was only reported, or could not be interrupted", () => {
    const fired = { at: 7, afterMs: 3_600_000, action: "report", failed: null } as const;
    const countdown = { which: "idle", cause: "1 0", spentMs: 0, since: null, fired } as const;
    const late = (changes: object): Amendment => ({ timeouts: { countdowns: [{ ...countdown, ...changes }] } });
    expect(of(late({}))).toMatchObject([
      { kind: "time-out", urgency: "other", title: "one has been idle for more than 1 hour", sinceAt: 7 },
    ]);
    expect(of(late({ fired: null }))).toEqual([]);
    const interrupted = { ...fired, action: "interrupt" };
    expect(of(late({ which: "turn", fired: interrupted }))).toEqual([]);
    expect(of(late({ which: "turn", fired: { ...interrupted, failed: "Its turn went on" } }))).toMatchObject([
      { kind: "time-out", urgency: "blocked", did: "Its turn went on." },
    ]);
    // An agent that says at last that it is ready is no matter any more.
    expect(of(late({ which: "start", cause: "1" }))).toEqual([]);
  });

  test("a hold that ends soon, if the session is ended then", () => {
    const since = { at: 5, boot: "b", upMs: 5 };
    const stay = { reason: "the review", by: "operator", since, forMs: 7_200_000, isEnding: true } as const;
    expect(of({ wish: { stay } })).toMatchObject([
      { kind: "hold", happened: "It is held for 2 hours: the review.", answers: ["end", "acknowledge", "snooze"] },
    ]);
    expect(of({ wish: { stay: { ...stay, isEnding: false } } })).toEqual([]);
  });

  test("how urgent another branch is follows from the session's policy", () => {
    const urgency = (policy: "warn" | "pause" | "error") =>
      of({ identity: { name: "one", branch: "main" }, checkout: { mismatchAt: 3, policy } }).map((one) => one.urgency);
    expect([urgency("warn"), urgency("pause"), urgency("error")]).toEqual([["other"], ["blocked"], ["failed"]]);
  });

  test("a branch mismatch names both", () => {
    const head = { branch: "other", commit: "abc", underWay: null, at: 3 };
    expect(of({ identity: { name: "one", branch: "main" }, checkout: { mismatchAt: 3, head } })).toMatchObject([
      { title: "one left its branch: Its checkout is on branch other, not on main." },
    ]);
  });

  test("what cannot be reached is told after a while", () => {
    const [due] = conditionsOf(session({ process: { liveness: { status: "unreachable", evidence } } }), around);
    expect(due).toMatchObject({
      afterMs: 60_000,
      condition: { kind: "unreachable", answers: ["acknowledge", "snooze"] },
    });
  });

  test("what an agent wrote cannot reach a terminal, and does not fill it", () => {
    const [item] = of(asking(`\u001b[2J\u202eWhy\nnot? ${"x".repeat(5_000)}`));
    expect(item?.title).toMatch(/^one asks: <U\+202E>Why not\? x+…$/);
    expect(Array.from(item?.title ?? "").length).toBe(160);
    expect(item?.happened.length).toBeLessThan(700);
    expect(`${item?.title}${item?.happened}`).not.toContain("\u001b");
  });

  test("a question that another source words differently is the same one", () => {
    const screen = { source: "screen", detail: "its screen", at: 5 } as const;
    const before = session({ conversation: { activity: { status: "awaiting-input", asks: "Wh", evidence: screen } } });
    const reading = { source: "hook", detail: "a hook", activity: "awaiting-input", asks: "Why?" } as const;
    const { session: after } = applyReading(before, reading, { now: 99, random: 0 });
    expect(after.conversation.activity.asks).toBe("Why?");
    const id = (one: Session): string | undefined => conditionsOf(one, around)[0]?.condition.id;
    expect(id(after)).toBe(id(before));
    const { session: next } = applyReading(after, { ...reading, asks: "Why not?" }, { now: 100, random: 0 });
    expect(id(next)).not.toBe(id(before));
  });

  test("what waits to be typed goes first: a turn before it is not finished work", () => {
    const lastTurn = {
      startedAt: null,
      id: null,
      verdict: "completed",
      error: null,
      failure: null,
      verdictSource: "hook",
      isEnding: false,
      stops: 0,
      prolonged: 0,
      earlier: [],
      inferred: [],
    } as const;
    const done = session({ conversation: { lastTurn, turns: 1 }, notice: { newsRevision: 1 } });
    expect(conditionsOf(done, around)).toMatchObject([{ isOnce: true, condition: { kind: "finished" } }]);
    expect(conditionsOf(done, { ...around, hasMessages: true })).toEqual([]);
  });

  test("one that is held after a lost database says so, and is not told to be simply restarted", () => {
    const held = { reason: "its record came from state.json", until: null };
    expect(
      of({ state: "error", wish: { held }, process: { exit: { code: null, signal: null, at: 4 } } }),
    ).toMatchObject([
      {
        kind: "failure",
        did: "Reeve does not start it by itself.",
        answers: ["restart", "end", "acknowledge", "snooze"],
      },
    ]);
  });

  test("after whatever happens, each thing is there once, and nothing of a session that was ended", () => {
    fc.assert(
      fc.property(fc.array(anyInput(), { maxLength: 40 }), (inputs) => {
        let now = plannedSession();
        for (const input of inputs) {
          const outcome = transition(now, input, context);
          if (outcome.refused === null) now = outcome.session;
          const ids = conditionsOf(now, around).map(({ condition }) => condition.id);
          expect(new Set(ids).size).toBe(ids.length);
          if (isEnded(now)) expect(ids).toEqual([]);
        }
      }),
    );
  });

  test("why an item is over is said of the session as it is then", () => {
    const [item] = of(asking("Why?"));
    if (item === undefined) throw new Error("there is no item");
    expect(whyOver(item, session({}))).toBe("It was answered, or is not asked any more.");
    expect(whyOver(item, session({ process: { exit: { code: 0, signal: null, at: 4 } } }))).toBe("Its process ended.");
    expect(whyOver(item, session({ wish: { desired: "stopped" } }))).toBe("The session was ended.");
    expect(whyOver(item, undefined)).toBe("The session was ended.");
    expect(whyOver({ ...item, sessionId: null, kind: "disk" }, undefined)).toBe("There is room again.");
  });
});
