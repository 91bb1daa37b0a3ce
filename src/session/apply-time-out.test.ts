/** Which time-out is due when, and that each fires once for its cause. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Moment } from "../platform/clock.ts";
import { amend } from "./amend.ts";
import { nextTimeOut, type NextTimeOut } from "./apply-time-out.ts";
import { lacksCountdown, withCountdowns } from "./countdown.ts";
import { type Caller, OPERATOR } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import type { Reading } from "./reading.ts";
import { evidence, place, plannedSession, shown, anyInput } from "./session-fixture.ts";
import type { Session } from "./session.ts";
import { type ChosenTimeOuts, DEFAULT_TIME_OUTS, TIME_OUT_NAMES, type TimeOutName } from "./time-out.ts";
import { transition } from "./transition.ts";

const MINUTE = 60_000;

interface World {
  session(): Session;
  /** Types of events, a time-out with its name. */
  told(): readonly string[];
  fired(): readonly Extract<SessionEvent, { type: "timed-out" }>[];
  put(input: Input, caller?: Caller): World;
  read(reading: Partial<Reading>): World;
  next(): NextTimeOut | null;
  /** Time passes; what is due happens when it is. */
  pass(ms: number, canInterrupt?: boolean): World;
  jump(ms: number): World;
  reboot(): World;
  now(): Moment;
}

/** A session over time: inputs at moments, and a wall clock that may be set. */
function world(
  chosen: Partial<Record<TimeOutName, ChosenTimeOuts[TimeOutName]>> = {},
  start = plannedSession(),
): World {
  let upMs = 1_000;
  let wall = 0;
  let boot = "one";
  let session = start;
  const events: SessionEvent[] = [];
  const limits: ChosenTimeOuts = { ...OFF, ...chosen };
  const now = (): Moment => ({ at: upMs + wall, boot, upMs });
  const it: World = {
    session: () => session,
    told: () => events.map((event) => (event.type === "timed-out" ? `timed-out ${event.which}` : event.type)),
    fired: () => events.filter((event) => event.type === "timed-out"),
    put(input, caller = OPERATOR) {
      const outcome = transition(session, input, { now: now().at, moment: now(), random: 0.5, caller });
      if (outcome.refused !== null) throw new Error(outcome.refused.message);
      session = outcome.session;
      events.push(...outcome.events);
      return it;
    },
    read: (reading) =>
      it.put({
        type: "read",
        incarnation: session.process.incarnation,
        reading: { source: "hook", detail: "a hook", ...reading },
      }),
    next: () => nextTimeOut(session, limits, now()),
    pass(ms, canInterrupt = true) {
      const end = upMs + ms;
      for (let due = it.next(); due !== null && upMs + due.leftMs <= end; due = it.next()) {
        upMs += due.leftMs;
        if (due.do === "fire")
          it.put({
            type: "timed-out",
            which: due.which,
            cause: due.cause,
            chosen: limits[due.which],
            canInterrupt,
            graceMs: 5,
          });
        else it.put({ type: due.do === "lapse-hold" ? "hold-lapsed" : "hold-ending" });
      }
      upMs = end;
      return it;
    },
    jump: (ms) => {
      wall += ms;
      return it;
    },
    reboot: () => {
      boot = `${boot}+`;
      wall += upMs;
      upMs = 0;
      return it;
    },
    now,
  };
  return it;
}

const off = (action: "report" | "end") => ({ afterMs: null, action, from: "default" }) as const;
const OFF: ChosenTimeOuts = {
  ...DEFAULT_TIME_OUTS,
  start: off("report"),
  turn: off("report"),
  idle: off("end"),
  approval: off("report"),
  age: off("end"),
};
const after = (ms: number, action: "report" | "interrupt" | "end" = "report") =>
  ({ afterMs: ms, action, from: "start" }) as const;

const running = (chosen: Parameters<typeof world>[0]) =>
  world(chosen).put({ type: "created", incarnation: 1, place, shown, evidence });
const idle = (chosen: Parameters<typeof world>[0]) => running(chosen).read({ activity: "idle" });
const working = (chosen: Parameters<typeof world>[0]) => idle(chosen).read({ turn: { phase: "started", id: "a" } });
const asked = {
  requested: { id: "q", kind: "command", title: "Run it", subject: "ls", cwd: null, reason: null },
} as const;

describe("start", () => {
  test("an agent that does not say it is ready becomes unknown; once for each start", () => {
    const it = running({ start: after(MINUTE) }).pass(MINUTE - 1);
    expect(it.fired()).toEqual([]);
    it.pass(1);
    expect(it.told().slice(-2)).toEqual(["timed-out start", "activity-changed"]);
    expect(it.session().conversation.activity).toMatchObject({
      status: "unknown",
      evidence: { detail: "It has not said within 1 minute that it is ready" },
    });
    it.read({ activity: "starting" }).pass(5 * MINUTE);
    expect(it.fired()).toHaveLength(1);
  });

  test("one that is ready in time, or has no turns, is left alone", () => {
    expect(
      idle({ start: after(MINUTE) })
        .pass(5 * MINUTE)
        .fired(),
    ).toEqual([]);
    const plain = world({ start: after(MINUTE) }, plannedSession({ identity: { hasTurns: false } }));
    plain.put({ type: "created", incarnation: 1, place, shown, evidence });
    expect(plain.pass(5 * MINUTE).fired()).toEqual([]);
  });

  test("it may be ended at once, though its first prompt is still ahead", () => {
    const it = running({ start: after(MINUTE, "end") }).pass(MINUTE);
    expect(pendingEffect(it.session(), it.now())).toMatchObject({
      kind: "stop",
      stop: { next: "stopped", afterTurn: false },
    });
  });
});

describe("turn", () => {
  test("the time in which it waits for an answer does not count", () => {
    const it = working({ turn: after(10 * MINUTE) }).pass(4 * MINUTE);
    it.read({ activity: "awaiting-approval", approval: asked }).pass(60 * MINUTE);
    expect(it.fired()).toEqual([]);
    it.read({ activity: "working", approval: { settled: { id: "q", decision: "approved" } } });
    it.pass(6 * MINUTE - 1);
    expect(it.fired()).toEqual([]);
    it.pass(1);
    expect(it.fired()).toMatchObject([{ which: "turn", afterSeconds: 600, action: "report", turn: 1 }]);
    it.pass(60 * MINUTE);
    expect(it.fired()).toHaveLength(1);
    it.read({ turn: { phase: "completed", id: "a" } })
      .read({ turn: { phase: "started", id: "b" } })
      .pass(60 * MINUTE);
    expect(it.fired()).toMatchObject([{ turn: 1 }, { turn: 2 }]);
  });

  test("interrupt: what is to be done follows from the record until the turn is over, and the event says why", () => {
    const it = working({ turn: after(MINUTE, "interrupt") }).pass(MINUTE);
    expect(pendingEffect(it.session())).toEqual({ kind: "interrupt", incarnation: 1, turn: 1 });
    it.read({ turn: { phase: "interrupted", id: "a" } });
    expect(pendingEffect(it.session())).toBeNull();
    expect(it.told()).toContain("turn-interrupted");
  });

  test("interrupt that comes to nothing is told once, and not tried again", () => {
    const it = working({ turn: after(MINUTE, "interrupt") }).pass(MINUTE);
    const failed = { type: "interrupt-failed", incarnation: 1, turn: 1, evidence } as const;
    it.put(failed).put(failed);
    expect(pendingEffect(it.session())).toBeNull();
    expect(it.told().filter((type) => type === "interrupt-failed")).toHaveLength(1);
  });

  test("an agent that cannot be interrupted is reported, and that is said", () => {
    const it = working({ turn: after(MINUTE, "interrupt") }).pass(MINUTE, false);
    expect(it.fired()).toMatchObject([
      {
        action: "report",
        reason: {
          text: "Its turn is under way for 1 minute. Its agent cannot be interrupted, so Reeve only reports it.",
        },
      },
    ]);
    expect(pendingEffect(it.session())).toBeNull();
  });
});

describe("idle and age", () => {
  test("each idle time counts anew, and ends the session with the reason", () => {
    const it = idle({ idle: after(10 * MINUTE, "end") }).pass(9 * MINUTE);
    it.read({ turn: { phase: "started", id: "a" } })
      .pass(60 * MINUTE)
      .read({ turn: { phase: "completed", id: "a" } });
    it.pass(9 * MINUTE);
    expect(it.fired()).toEqual([]);
    it.pass(MINUTE);
    expect(it.told().slice(-2)).toEqual(["timed-out idle", "end-requested"]);
    it.put({ type: "cleared", incarnation: 1, isPlaceGone: true, evidence });
    expect(it.session()).toMatchObject({
      state: "stopped",
      reason: { text: "Ended by its idle time-out: nothing has happened in it for 10 minutes. seen in a test" },
    });
    it.pass(1_000 * MINUTE);
    expect(it.fired()).toHaveLength(1);
  });

  test("age waits for the turn under way, and is once for the session, also if its end is cancelled or it is restarted", () => {
    const it = working({ age: after(60 * MINUTE, "end") }).pass(60 * MINUTE);
    expect(it.session().wish.stop).toMatchObject({ afterTurn: true, by: "system", timedOut: { which: "age" } });
    expect(pendingEffect(it.session())).toBeNull();
    it.put({ type: "cancel-end" }).pass(1_000 * MINUTE);
    it.put({ type: "restart", graceMs: 0 }).put({ type: "cleared", incarnation: 1, isPlaceGone: false, evidence });
    it.put({ type: "created", incarnation: 2, place, shown, evidence }).pass(1_000 * MINUTE);
    expect(it.fired()).toHaveLength(1);
  });

  test("a paused session is not idle, and one that somebody ends is not ended again", () => {
    const paused = idle({ idle: after(MINUTE, "end") })
      .put({ type: "pause", mode: "detach" })
      .pass(60 * MINUTE);
    expect(paused.fired()).toEqual([]);
    const ended = working({ age: after(MINUTE, "end") }).put({ type: "end", graceMs: 5, afterTurn: true });
    expect(ended.pass(60 * MINUTE).fired()).toEqual([]);
  });
});

describe("approval", () => {
  test("each question for itself; what is being answered is not overdue", () => {
    const it = working({ approval: after(15 * MINUTE) }).read({ activity: "awaiting-approval", approval: asked });
    it.pass(10 * MINUTE)
      .put({ type: "answer", approvalId: "q", decision: "approved" })
      .pass(60 * MINUTE);
    expect(it.fired()).toEqual([]);
    it.put({ type: "answer-failed", incarnation: 1, approvalId: "q", reason: { code: "x", text: "x", evidence } });
    it.pass(5 * MINUTE);
    expect(it.fired()).toMatchObject([{ which: "approval", approvalId: "q", action: "report" }]);
    expect(it.pass(60 * MINUTE).fired()).toHaveLength(1);
  });

  test("a question that only the screen shows counts, too", () => {
    const it = working({ approval: after(MINUTE, "end") })
      .read({ activity: "awaiting-input", asks: "Which?" })
      .pass(MINUTE);
    expect(it.fired()).toMatchObject([{ which: "approval", action: "end" }]);
    expect(pendingEffect(it.session())).toMatchObject({ kind: "stop" });
  });
});

test("stop grace: what is left is killed when the grace is over, counted from the end that was asked for", () => {
  const it = idle({}).put({ type: "end", graceMs: 10_000, afterTurn: false }).pass(9_999);
  expect(it.session().wish.stop?.graceMs).toBe(10_000);
  it.pass(1);
  expect(it.told().at(-1)).toBe("timed-out stop_grace");
  expect(pendingEffect(it.session())).toMatchObject({ kind: "stop", stop: { graceMs: 0 } });
  expect(it.pass(60_000).fired()).toHaveLength(1);
  expect(idle({}).put({ type: "end", graceMs: 0, afterTurn: false }).pass(60_000).fired()).toEqual([]);
});

describe("a session that is held", () => {
  const hold = { type: "hold", reason: "evidence", forMs: 240 * MINUTE } as const;

  test("does not end by itself, and is ended right after its hold, which is told an hour before", () => {
    const it = idle({ idle: after(10 * MINUTE, "end") })
      .put(hold)
      .pass(180 * MINUTE - 1);
    expect(it.told().slice(-1)).toEqual(["session-held"]);
    it.pass(1);
    expect(it.told().slice(-1)).toEqual(["hold-ending"]);
    it.pass(60 * MINUTE);
    expect(it.told().slice(-4)).toEqual(["hold-ending", "hold-lapsed", "timed-out idle", "end-requested"]);
  });

  test("is told of nothing where nothing would follow", () => {
    const it = idle({ idle: after(10 * MINUTE, "report") })
      .put(hold)
      .pass(240 * MINUTE);
    expect(it.told().slice(-3)).toEqual(["session-held", "hold-lapsed", "timed-out idle"]);
  });

  test("is not ended by other time-outs either: they are reported", () => {
    const it = working({ turn: after(MINUTE, "end") })
      .put(hold)
      .pass(MINUTE);
    expect(it.fired()).toMatchObject([
      { action: "report", reason: { text: expect.stringContaining("is held, so Reeve does not end it") } },
    ]);
    expect(it.session().wish.stop).toBeNull();
  });

  test("is ended by the operator only if they mean it, and by no session; it stays held", () => {
    const it = idle({}).put(hold);
    const end = { type: "end", graceMs: 0, afterTurn: false } as const;
    expect(() => it.put(end)).toThrow(
      /^Session builder is held until .*: evidence\. End it with --even-if-held, or release it first/,
    );
    const session = { kind: "session", id: "other" } as const;
    expect(() => it.put({ ...end, isMeant: true }, session)).toThrow("Only the operator can end it");
    expect(() => it.put({ type: "release-hold" }, session)).toThrow("is held by the operator");
    it.put({ ...end, isMeant: true }).put({ type: "cleared", incarnation: 1, isPlaceGone: true, evidence });
    expect(it.session()).toMatchObject({ state: "stopped", wish: { stay: { reason: "evidence" } } });
    it.pass(240 * MINUTE);
    expect(it.session().wish.stay).toBeNull();
  });

  test("whoever holds it releases it; a wall clock that is set changes nothing", () => {
    const parent = { kind: "session", id: "parent" } as const;
    const it = idle({})
      .put(hold, parent)
      .jump(-120 * MINUTE)
      .pass(120 * MINUTE)
      .jump(600 * MINUTE)
      .pass(MINUTE);
    expect(it.session().wish.stay).not.toBeNull();
    it.put({ type: "release-hold" }, parent);
    expect(it.told().at(-1)).toBe("hold-released");
  });
});

test("after the machine was started again only the wall clock is left: at least the new boot counts", () => {
  const it = idle({ age: after(60 * MINUTE) })
    .pass(30 * MINUTE)
    .reboot()
    .jump(-120 * MINUTE);
  it.pass(MINUTE);
  expect(it.fired()).toEqual([]);
  it.pass(59 * MINUTE);
  expect(it.fired()).toHaveLength(1);
});

test("a record of an earlier version begins to count when it is told to", () => {
  const old = amend(idle({}).session(), { timeouts: { chosen: {}, countdowns: [] } });
  expect(lacksCountdown(old)).toBe(true);
  const counted = withCountdowns(old, { at: 5, boot: "x", upMs: 5 });
  expect([lacksCountdown(counted), counted.timeouts.countdowns.map(({ which }) => which)]).toEqual([
    false,
    ["age", "idle"],
  ]);
});

test("whatever happens, and however the wall clock is set: nothing fires twice for one cause, before its time, or late", () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: anyInput().map((input) => ({ input })) },
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 4_000 }).map((ms) => ({ ms })) },
    { weight: 1, arbitrary: fc.constantFrom(-7_200_000, 7_200_000).map((jump) => ({ jump })) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const chosen = Object.fromEntries(
        TIME_OUT_NAMES.map((name, index) => [name, after(1_000 * (index + 1), name === "age" ? "end" : "report")]),
      );
      const it = running(chosen);
      let seen = new Map<string, number>();
      for (const one of steps) {
        if ("jump" in one) it.jump(one.jump);
        else if ("ms" in one) it.pass(one.ms);
        else
          try {
            it.put(one.input);
          } catch {
            // A command that is refused changes nothing.
          }
        // Nothing that is due is left: it fired, or something keeps it from that.
        const next = it.next();
        if ("ms" in one && next !== null) expect(next.leftMs).toBeGreaterThan(0);
        const now = new Map<string, number>();
        for (const { which, cause, fired } of it.session().timeouts.countdowns) {
          if (fired === null) continue;
          expect(seen.get(`${which} ${cause}`) ?? fired.at).toBe(fired.at);
          now.set(`${which} ${cause}`, fired.at);
        }
        seen = now;
      }
    }),
    { numRuns: 300 },
  );
});
