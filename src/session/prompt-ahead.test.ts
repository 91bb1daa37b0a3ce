/** How long the prompt of a start holds back what waits for it, whatever somebody does to the wall clock. */
import { expect, test } from "vitest";
import type { Moment } from "../platform/clock.ts";
import type { Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import { isPromptAhead } from "./prompt-ahead.ts";
import { evidence, place, plannedSession, shown } from "./session-fixture.ts";
import { transition } from "./transition.ts";

const HOUR = 3_600_000;
const at = (upMs: number, setBack = 0): Moment => ({ at: 1_000 * HOUR + upMs - setBack, boot: "one", upMs });

/** Idle, and its prompt was not taken. */
function idleSession(now: Moment, ...more: readonly Input[]) {
  const launch = { ...plannedSession().identity.launch, prompt: "begin" };
  const idle: Input = {
    type: "read",
    incarnation: 1,
    reading: { source: "hook", detail: "", activity: "idle" },
  };
  const inputs: readonly Input[] = [{ type: "created", incarnation: 1, place, shown, evidence }, idle, ...more];
  let session = plannedSession({ identity: { launch } });
  for (const input of inputs) {
    const outcome = transition(session, input, { now: now.at, random: 0, moment: now });
    if (outcome.refused === null) ({ session } = outcome);
  }
  return session;
}

test("it is over after a while, also when somebody set the clock back an hour", () => {
  const session = idleSession(at(1_000));
  expect(isPromptAhead(session, at(2_000))).toBe(true);
  expect(isPromptAhead(session, at(2_000, HOUR))).toBe(true);
  expect(isPromptAhead(session, at(20_000, HOUR))).toBe(false);
  expect(isPromptAhead(session, at(2_000, -HOUR))).toBe(true);
});

test("an end that waits for it goes on then", () => {
  const session = idleSession(at(1_000), { type: "end", graceMs: 0, afterTurn: true });
  expect(pendingEffect(session, at(2_000, HOUR))).toBeNull();
  expect(pendingEffect(session, at(20_000, HOUR))).toMatchObject({ kind: "stop" });
});
