import { amend } from "./amend.ts";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import type { RestartPolicy } from "./restart-record.ts";
import type { Session } from "./session.ts";
import { isEnded } from "./session.ts";
import { created, exitedWith, read, run, types } from "./run-inputs.ts";
import { anyInput, context, evidence, place, plannedSession, shown } from "./session-fixture.ts";
import { transition } from "./transition.ts";

const cleared: Input = { type: "cleared", incarnation: 1, isPlaceGone: true, evidence };

describe("a life without incidents", () => {
  test("starts, runs, is ended and proven gone", () => {
    const { session, events } = run(
      plannedSession(),
      created,
      { type: "end", graceMs: 10, afterTurn: false },
      exitedWith(143),
      cleared,
    );
    expect(types(events)).toEqual([
      "session-running",
      "end-requested",
      "session-exited",
      "session-cleared",
      "session-stopped",
    ]);
    expect(session).toMatchObject({
      state: "stopped",
      wish: { desired: "stopped", stop: null },
      process: { liveness: { status: "exited" }, exit: { code: 143 } },
    });
  });

  test("a clean exit is stopped, a failing one is an error; both sweep what is left", () => {
    expect(run(plannedSession(), created, exitedWith(0)).session).toMatchObject({
      state: "stopped",
      wish: { desired: "running", stop: { next: "rest" } },
    });
    expect(run(plannedSession(), created, exitedWith(3)).session).toMatchObject({
      state: "error",
      reason: { code: "failed" },
      wish: { stop: { next: "rest" } },
    });
  });

  test("the end of a session that never got a process is not reported as a death", () => {
    const { events } = run(plannedSession(), { type: "end", graceMs: 0, afterTurn: false }, cleared);
    expect(types(events)).toEqual(["end-requested", "session-cleared", "session-stopped"]);
  });
});

describe("absent, exited and unreachable", () => {
  test("unreachable changes liveness, stops what is counted, and nothing else", () => {
    const before = run(plannedSession(), created).session;
    const after = run(before, { type: "found-unreachable", incarnation: 1, asked: place, evidence }).session;
    const liveness = { status: "unreachable", evidence } as const;
    const countdowns = before.timeouts.countdowns.map((one) => (one.which === "start" ? { ...one, since: null } : one));
    expect(after).toEqual(
      amend(before, { revision: before.revision + 1, process: { liveness }, timeouts: { countdowns } }),
    );
  });

  test("what was unreachable and is found again is running, and that is an event", () => {
    const { session, events } = run(
      plannedSession(),
      created,
      { type: "found-unreachable", incarnation: 1, asked: place, evidence },
      { type: "found-running", incarnation: 1, place, shown, evidence, adopted: false },
    );
    expect(types(events)).toEqual(["session-running", "liveness-changed", "liveness-changed"]);
    expect(session.process.liveness.status).toBe("running");
  });

  test("absent means nothing before the process was created", () => {
    const before = plannedSession();
    expect(run(before, { type: "found-absent", incarnation: 1, asked: place, evidence })).toEqual({
      session: before,
      events: [],
    });
  });

  test("a second report of the same death is no event", () => {
    const { events } = run(
      plannedSession(),
      created,
      exitedWith(1),
      { type: "found-absent", incarnation: 1, asked: place, evidence },
      exitedWith(1),
    );
    expect(types(events).filter((type) => type === "session-exited")).toHaveLength(1);
  });
});

describe("pausing", () => {
  test("detach is a fact at once, suspend only when the processes are stopped", () => {
    expect(run(plannedSession(), created, { type: "pause", mode: "detach" }).session.state).toBe("paused");
    const wished = run(plannedSession(), created, { type: "pause", mode: "suspend" }).session;
    expect(wished).toMatchObject({ state: "running", wish: { desired: "paused" } });
    expect(pendingEffect(wished)).toEqual({ kind: "suspend", incarnation: 1 });
    expect(run(wished, { type: "suspended", incarnation: 1, evidence }).session.state).toBe("paused");
  });

  test("a detached session can be suspended as well, and both are undone by resume", () => {
    const suspended = run(
      plannedSession(),
      created,
      { type: "pause", mode: "detach" },
      { type: "pause", mode: "suspend" },
      { type: "suspended", incarnation: 1, evidence },
    ).session;
    expect(suspended).toMatchObject({ state: "paused", process: { suspended: true } });
    const released = run(suspended, { type: "resume" }, { type: "released", incarnation: 1, evidence }).session;
    expect(released).toMatchObject({ state: "running", process: { suspended: false }, wish: { pauseMode: null } });
  });

  test("resume without a pause changes nothing; of a dead session it is refused", () => {
    const running = run(plannedSession(), created).session;
    expect(transition(running, { type: "resume" }, context)).toEqual({ refused: null, session: running, events: [] });
    expect(transition(run(running, exitedWith(1)).session, { type: "resume" }, context)).toMatchObject({
      refused: { code: "not-paused" },
    });
  });
});

describe("restarting", () => {
  test("a restart stops first and starts only when that is proven", () => {
    const asked = run(plannedSession(), created, { type: "restart", graceMs: 10 }).session;
    expect(pendingEffect(asked)).toMatchObject({ kind: "stop", incarnation: 1 });
    const { session } = run(asked, exitedWith(143), cleared);
    expect(session).toMatchObject({
      state: "starting",
      process: { incarnation: 2, place: null, exit: null, restart: { count: 1 } },
    });
    expect(pendingEffect(session)).toEqual({ kind: "create", incarnation: 2 });
  });

  test("a restart of what is gone leaves alone what runs, so two who ask at once get one process", () => {
    const ifGone = { type: "restart", graceMs: 10, ifGone: true } as const;
    const running = run(plannedSession(), created).session;
    expect(run(running, ifGone).session).toBe(running);
    const dead = run(running, exitedWith(1), cleared).session;
    const again = run(dead, ifGone, cleared, { ...created, incarnation: 2 } as Input).session;
    expect(again.process.incarnation).toBe(2);
    expect(run(again, ifGone).session).toBe(again);
  });

  test("an end that overtakes a restart is over only when the place is gone too", () => {
    const overtaken = run(
      plannedSession(),
      created,
      { type: "restart", graceMs: 5 },
      { type: "end", graceMs: 5, afterTurn: false },
    ).session;
    const half = run(overtaken, { type: "cleared", incarnation: 1, isPlaceGone: false, evidence }).session;
    expect(pendingEffect(half)).toMatchObject({ kind: "stop", stop: { next: "stopped" } });
    expect(isEnded(run(half, cleared).session)).toBe(true);
  });

  test("the policy waits, and waits for the sweep too", () => {
    const dead = run(plannedSession({ identity: { restartPolicy: "on-failure" } }), created, exitedWith(1)).session;
    expect(dead).toMatchObject({ state: "error", process: { restart: { dueAt: 2_750 } } });
    expect(run(dead, { type: "restart-due" }).session.process.incarnation).toBe(1);
    expect(run(dead, cleared, { type: "restart-due" }).session).toMatchObject({
      process: { incarnation: 2 },
      state: "starting",
    });
  });

  test("a paused session that dies stays dead", () => {
    const dead = run(
      plannedSession({ identity: { restartPolicy: "always" } }),
      created,
      { type: "pause", mode: "detach" },
      exitedWith(1),
    ).session;
    expect(dead.process.restart.dueAt).toBeNull();
  });
});

describe("turns", () => {
  test("an end that waits for the turn is held back until it is over", () => {
    const working = run(plannedSession(), created, read({ turn: { phase: "started" } }), {
      type: "end",
      graceMs: 0,
      afterTurn: true,
    }).session;
    expect(pendingEffect(working)).toBeNull();
    expect(pendingEffect(run(working, read({ turn: { phase: "completed" } })).session)).toMatchObject({ kind: "stop" });
    const asking = read({ activity: "awaiting-approval" });
    expect(pendingEffect(run(working, asking).session)).toMatchObject({ kind: "stop" });
    expect(pendingEffect(run(working, { type: "end", graceMs: 0, afterTurn: false }).session)).toMatchObject({
      kind: "stop",
    });
  });
});

describe("invariants over any sequence of inputs", () => {
  const sequences = fc.array(anyInput(), { maxLength: 40 });
  const policies = fc.constantFrom("never" as const, "on-failure" as const, "always" as const);

  /** Runs a sequence and hands each step to the check. */
  function walk(
    inputs: readonly Input[],
    restartPolicy: RestartPolicy,
    check: (before: Session, input: Input, after: Session, events: readonly SessionEvent[]) => void,
  ): void {
    let session = plannedSession({ identity: { restartPolicy } });
    for (const input of inputs) {
      const outcome = transition(session, input, context);
      if (outcome.refused !== null) {
        expect(outcome.refused.message).toMatch(/^Session .+\.$/);
        continue;
      }
      check(session, input, outcome.session, outcome.events);
      session = outcome.session;
    }
  }

  test("the revision grows by one exactly when the record changed", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        walk(inputs, policy, (before, _input, after) =>
          expect(after.revision).toBe(after === before ? before.revision : before.revision + 1),
        );
      }),
    );
  });

  test("3: unreachable never ends, restarts or re-states a session", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        walk(inputs, policy, (before, input, after) => {
          if (input.type !== "found-unreachable") return;
          expect({
            state: after.state,
            exit: after.process.exit,
            incarnation: after.process.incarnation,
            stop: after.wish.stop,
          }).toEqual({
            state: before.state,
            exit: before.process.exit,
            incarnation: before.process.incarnation,
            stop: before.wish.stop,
          });
        });
      }),
    );
  });

  test("4: a new incarnation only after the one before was proven gone", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        let isProvenGone = false;
        walk(inputs, policy, (before, input, after) => {
          if (input.type === "cleared" && input.incarnation === before.process.incarnation && before.wish.stop !== null)
            isProvenGone = true;
          if (after.process.incarnation === before.process.incarnation) return;
          expect(after.process.incarnation).toBe(before.process.incarnation + 1);
          expect(isProvenGone).toBe(true);
          isProvenGone = false;
        });
      }),
    );
  });

  test("7: each death is reported once, and stopped by request only after it was proven", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        const deaths = new Set<number>();
        walk(inputs, policy, (before, input, after, events) => {
          for (const event of events) {
            if (event.type !== "session-exited") continue;
            expect(deaths.has(event.incarnation)).toBe(false);
            deaths.add(event.incarnation);
          }
          if (isEnded(after) && !isEnded(before)) expect(input.type).toBe("cleared");
          if (after.process.exit !== null) expect(pendingEffect(after)?.kind ?? "stop").toBe("stop");
        });
      }),
    );
  });

  test("nothing but a restart brings back what was ended", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        walk(inputs, policy, (before, input, after) => {
          if (isEnded(before) && input.type !== "restart") expect(isEnded(after)).toBe(true);
        });
      }),
    );
  });

  test("a turn is begun before it ends, and ends once", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        let begun = 0;
        const ended = new Set<number>();
        walk(inputs, policy, (before, _input, after, events) => {
          for (const event of events) {
            if (event.type === "turn-started") expect(event.turn).toBe(++begun);
            if (event.type !== "turn-completed" && event.type !== "turn-failed" && event.type !== "turn-interrupted")
              continue;
            expect(ended.has(event.turn)).toBe(false);
            ended.add(event.turn);
            begun = Math.max(begun, event.turn);
          }
          expect(after.conversation.turns).toBe(begun);
          expect(after.conversation.turns - before.conversation.turns).toBeLessThanOrEqual(1);
          if (after.conversation.turnOpen) expect(ended.has(after.conversation.turns)).toBe(false);
        });
      }),
    );
  });

  test("what is over asks nothing, is in no turn and has not stalled", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        walk(inputs, policy, (_before, _input, after) => {
          if (after.process.exit === null) return;
          const { approvals, turnOpen, stalledAt, activity } = after.conversation;
          expect({ approvals, turnOpen, stalledAt, activity: activity.status }).toEqual({
            approvals: [],
            turnOpen: false,
            stalledAt: null,
            activity: "unknown",
          });
        });
      }),
      { numRuns: 500 },
    );
  });

  test("each question is settled once", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        const open = new Set<string>();
        walk(inputs, policy, (_before, _input, after, events) => {
          for (const event of events) {
            if (event.type === "approval-requested") open.add(event.approval.id);
            if (event.type === "approval-settled") expect(open.delete(event.approvalId)).toBe(true);
          }
          expect(after.conversation.approvals.map(({ id }) => id)).toEqual([...open]);
        });
      }),
    );
  });

  test("the reason always carries evidence, and a stale incarnation changes nothing", () => {
    fc.assert(
      fc.property(sequences, policies, (inputs, policy) => {
        walk(inputs, policy, (before, input, after) => {
          expect(after.reason.text).not.toBe("");
          expect(after.reason.evidence.detail).not.toBe("");
          if ("incarnation" in input && input.incarnation !== before.process.incarnation) expect(after).toBe(before);
        });
      }),
    );
  });
});

describe("a place is its runtime's business", () => {
  const pod = { pod: "reeve-7f", node: { zone: "a", attempts: [1, 2] } };
  const view = { text: "pod reeve-7f", id: "reeve-7f", pid: null };
  const placed: Input = { type: "created", incarnation: 1, place: pod, shown: view, evidence };

  test("people read what the runtime says, and no pid where it has none", () => {
    const { session, events } = run(plannedSession(), placed);
    expect(session).toMatchObject({
      process: { place: pod },
      reason: { code: "process-started", text: "Running as pod reeve-7f." },
    });
    expect(events).toMatchObject([{ type: "session-running", pid: null }]);
  });

  test.each([
    ["the same content", structuredClone(pod), "error"],
    ["another one", { ...pod, node: { zone: "a", attempts: [1, 3] } }, "running"],
    ["none", null, "running"],
  ])("an absence counts where it is about the place it has: %s", (_what, asked, state) => {
    const gone: Input = { type: "found-absent", incarnation: 1, asked, evidence };
    expect(run(plannedSession({ identity: { restartPolicy: "never" } }), placed, gone).session.state).toBe(state);
  });
});

test("an export is noted, and the session is as it was otherwise: it ended when it did", () => {
  const { session: before } = run(
    plannedSession(),
    created,
    { type: "end", graceMs: 1, afterTurn: false },
    exitedWith(0),
    cleared,
  );
  const exported = amend(before, { revision: before.revision + 1, notice: { exportedAt: 9_000 } });
  expect(transition(before, { type: "exported", bytes: 7 }, { ...context, now: 9_000 })).toEqual({
    refused: null,
    session: exported,
    events: [{ type: "session-exported", bytes: 7 }],
  });
});
