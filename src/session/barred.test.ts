/** A record from a file tells which process to look for, and never what to start. */
import { amend } from "./amend.ts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bar, foundPlace } from "./barred.ts";
import type { Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import { created, exitedWith, run, types } from "./run-inputs.ts";
import { anyInput, context, evidence, place, plannedSession, shown } from "./session-fixture.ts";
import { transition } from "./transition.ts";

const absent: Input = { type: "found-absent", incarnation: 1, asked: place, evidence };
const found: Input = { type: "found-running", incarnation: 1, place, shown, evidence, adopted: true };

test("whatever happens to a held session, nothing is started until somebody asks for a restart", () => {
  fc.assert(
    fc.property(fc.array(anyInput()), fc.array(anyInput()), (before, after) => {
      let session = before.reduce(
        (known, input) => {
          const outcome = transition(known, input, context);
          return outcome.refused === null ? outcome.session : known;
        },
        plannedSession({ identity: { restartPolicy: "always" } }),
      );
      session = bar(session, 5_000);
      for (const input of after.filter(({ type }) => type !== "restart")) {
        const outcome = transition(session, input, context);
        if (outcome.refused === null) session = outcome.session;
        expect(pendingEffect(session)?.kind).not.toBe("create");
        expect(session.process.restart.dueAt).toBeNull();
      }
    }),
    { numRuns: 2_000 },
  );
});

test("its process lives: it goes on as it was, and is not started again by its policy", () => {
  const running = run(plannedSession({ identity: { restartPolicy: "always" } }), created).session;
  const held = bar(running, 5_000);
  const adopted = run(amend(held, { process: { liveness: { status: "unreachable", evidence } } }), found);
  expect(types(adopted.events)).toEqual(["liveness-changed", "session-adopted"]);
  expect(adopted.session).toMatchObject({ state: "running", wish: { held: { until: null } } });
  expect(run(adopted.session, exitedWith(1)).session).toMatchObject({
    state: "error",
    process: { restart: { dueAt: null } },
    reason: {
      code: "failed",
      text: "Its process exited with status 1. Not started again: its record came from state.json after the database was lost; start it with: reeve restart builder",
    },
  });
});

test("its process is not there: it rests with the reason, and a restart confirms it", () => {
  for (const session of [plannedSession(), run(plannedSession(), created).session]) {
    const rests = run(bar(session, 5_000), absent).session;
    expect(rests).toMatchObject({ state: "error", wish: { desired: "running" }, process: { exit: { code: null } } });
    expect(rests.reason.text).toContain("start it with: reeve restart builder");
    const again = run(
      rests,
      { type: "restart", graceMs: 0 },
      { type: "cleared", incarnation: 1, isPlaceGone: false, evidence },
    ).session;
    expect([again.wish.held, again.state, pendingEffect(again)]).toEqual([
      null,
      "starting",
      { kind: "create", incarnation: 2 },
    ]);
  }
});

test("an end that was asked for goes on; one that is over stays as it is", () => {
  const ending = run(plannedSession(), created, { type: "end", graceMs: 0, afterTurn: false }).session;
  expect(pendingEffect(bar(ending, 5_000))?.kind).toBe("stop");
  const ended = run(ending, exitedWith(0), { type: "cleared", incarnation: 1, isPlaceGone: true, evidence }).session;
  expect(bar(ended, 5_000)).toBe(ended);
});

test("where a process is counts as found by Reeve, unless a file says so or it is another process", () => {
  const running = run(plannedSession(), created).session;
  expect(foundPlace(running, 1)).toEqual(running.process.place);
  expect(running.process.place).not.toBeNull();
  expect(foundPlace(running, 2)).toBeNull();
  expect(foundPlace(bar(running, 5_000), 1)).toBeNull();
});
