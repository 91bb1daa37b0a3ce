/** The turn under way is to stop, on request and without a message. */
import { describe, expect, test } from "vitest";
import { amend } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import type { Command, Observation } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import { read, run, runningSession, types } from "./run-inputs.ts";
import { context, evidence } from "./session-fixture.ts";
import type { Session } from "./session.ts";
import { transition } from "./transition.ts";

const idle = run(runningSession(), read({ activity: "idle" })).session;
const working = run(idle, read({ turn: { phase: "started", id: "t" } })).session;
const asked: Command = { type: "interrupt" };
const failed: Observation = { type: "interrupt-failed", incarnation: 1, turn: 1, evidence };
const effect = { kind: "interrupt", incarnation: 1, turn: 1 };

function refusalOf(session: Session): string | undefined {
  return transition(session, asked, context).refused?.code;
}

const endOf = (events: readonly SessionEvent[]) => events.find(({ type }) => type === "turn-interrupted");

describe("an interrupt without a message", () => {
  test("is an effect as long as that turn is under way, and says who asked", () => {
    const { session, events } = run(working, asked);
    expect(types(events)).toEqual(["interrupt-requested"]);
    expect(pendingEffect(session)).toEqual(effect);
    const over = run(session, read({ turn: { phase: "interrupted", id: "t" } }));
    expect(endOf(over.events)).toMatchObject({ turn: 1, askedBy: "operator" });
    expect([over.session.wish.interrupt, pendingEffect(over.session)]).toEqual([null, null]);
  });

  test("stops no other turn: neither the next one, nor one of the next process", () => {
    const { session } = run(working, asked, read({ turn: { phase: "completed", id: "t" } }));
    expect(session.wish.interrupt).toBeNull();
    const next = run(session, read({ turn: { phase: "started", id: "u" } }));
    expect(pendingEffect(next.session)).toBeNull();
    const over = run(next.session, read({ turn: { phase: "interrupted", id: "u" } }));
    expect(endOf(over.events)).not.toHaveProperty("askedBy");
    const late = amend(working, { wish: { interrupt: { incarnation: 0, turn: 1, by: "operator", failed: false } } });
    expect(pendingEffect(late)).toBeNull();
  });

  test("twice is once; after it failed, it may be asked for again", () => {
    expect(types(run(working, asked, asked).events)).toEqual(["interrupt-requested"]);
    const tried = run(working, asked, failed);
    expect(types(tried.events)).toEqual(["interrupt-requested", "interrupt-failed"]);
    expect(pendingEffect(tried.session)).toBeNull();
    expect(pendingEffect(run(tried.session, asked).session)).toEqual(effect);
  });

  test("changes nothing where no turn is under way, and is refused where the key would do something else", () => {
    expect(transition(idle, asked, context)).toMatchObject({ refused: null, session: idle });
    expect(refusalOf(run(working, read({ activity: "awaiting-input", asks: "Which?" })).session)).toBe(
      "awaiting-input",
    );
    expect(refusalOf(run(working, read({ activity: "awaiting-approval", asks: "May I?" })).session)).toBe(
      "awaiting-approval",
    );
    const stopped = amend(working, { process: { suspended: true } });
    expect(transition(stopped, asked, context).refused).toMatchObject({
      code: "suspended",
      message: expect.stringMatching(/^Session .+\.$/),
    });
    expect(refusalOf(amend(working, { state: "stopped" }))).toBe("not-running");
  });
});
