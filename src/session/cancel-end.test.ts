/** An end that waits for the turn may be taken back, until the first signal. */
import { amend } from "./amend.ts";
import { describe, expect, test } from "vitest";
import type { Input } from "./input.ts";
import { mayTakeMessagesLater, pendingEffect } from "./pending-effect.ts";
import { created, exitedWith, read, run, types } from "./run-inputs.ts";
import { context, evidence, plannedSession } from "./session-fixture.ts";
import type { Session } from "./session.ts";
import { transition } from "./transition.ts";

const started = read({ turn: { phase: "started" } });
const completed = read({ turn: { phase: "completed" } });
const end: Input = { type: "end", graceMs: 7, afterTurn: true };
const endNow: Input = { type: "end", graceMs: 7, afterTurn: false };
const cancel: Input = { type: "cancel-end" };
const begun: Input = { type: "stop-begun", incarnation: 1 };
const cleared: Input = { type: "cleared", incarnation: 1, isPlaceGone: true, evidence };

const after = (...inputs: readonly Input[]): Session => run(plannedSession(), created, ...inputs).session;

function refusal(...inputs: readonly Input[]): string | null {
  const outcome = transition(after(...inputs), cancel, context);
  return outcome.refused?.code ?? null;
}

describe("taken back", () => {
  test("the session is as it was, and messages wait for it", () => {
    const before = after(started);
    const waiting = after(started, end);
    expect([pendingEffect(waiting), mayTakeMessagesLater(waiting)]).toEqual([null, true]);
    const { session, events } = run(waiting, cancel);
    expect(amend(session, { revision: 0, wish: { lastCommand: null } })).toEqual({ ...before, revision: 0 });
    expect(types(events)).toEqual(["end-cancelled"]);
    expect(pendingEffect(run(session, completed).session)).toBeNull();
  });

  test.each([
    ["detached", [{ type: "pause", mode: "detach" }], { wish: { desired: "paused", pauseMode: "detach", stop: null } }],
    [
      "suspended",
      [
        { type: "pause", mode: "suspend" },
        { type: "suspended", incarnation: 1, evidence },
      ],
      { wish: { desired: "paused", pauseMode: "suspend", stop: null }, process: { suspended: true } },
    ],
  ] as const)("a %s session stays so", (_how, pausing, as) => {
    const session = after(started, ...pausing, end, cancel);
    expect(session).toMatchObject({ state: "paused", ...as });
    expect(pendingEffect(session)).toBeNull();
  });
});

test.each<[string | null, readonly Input[]]>([
  ["not-being-ended", [started]],
  ["not-being-ended", [started, end, cancel]],
  ["not-being-ended", [started, { type: "restart", graceMs: 0 }]],
  ["end-under-way", [started, endNow]],
  ["end-under-way", [started, end, completed, begun]],
  ["end-under-way", [started, end, completed, begun, started]],
  ["end-under-way", [started, end, exitedWith(1)]],
  ["end-under-way", [started, { type: "restart", graceMs: 0 }, end]],
  ["already-ended", [started, endNow, cleared]],
  [null, [started, end]],
  [null, [started, end, completed]],
])("%s", (code, inputs) => {
  expect(refusal(...inputs)).toBe(code);
});

test("what has begun is not held back again: not by the next turn, not by another end", () => {
  for (const session of [after(started, end, completed, begun, started), after(started, endNow, end)])
    expect(pendingEffect(session)).toMatchObject({ kind: "stop", stop: { next: "stopped", afterTurn: false } });
});

test("that it has begun changes nothing else", () => {
  expect(types(run(after(started, end, completed), begun).events)).toEqual([]);
  const ended = after(started, endNow);
  expect(run(ended, begun).session).toBe(ended);
  const cancelled = after(started, end, cancel);
  expect(run(cancelled, begun).session).toBe(cancelled);
});
