/** A turn that ended with its process is remembered until the next process ends. */
import { describe, expect, test } from "vitest";
import { amend } from "./amend.ts";
import { unresumedTurn } from "./cut-short.ts";
import type { Input } from "./input.ts";
import { exitedWith, read, run, runningSession } from "./run-inputs.ts";
import type { Session } from "./session.ts";
import { context } from "./session-fixture.ts";

const working = (): Session => run(withTurns(), read({ turn: { phase: "started", id: "t1" } })).session;
const withTurns = (): Session => runningSession({ identity: { hasTurns: true } });
const restart: Input = { type: "restart", graceMs: 0 };

/** As its next process: only what this file is about. */
function reborn(session: Session): Session {
  return amend(session, { process: { incarnation: session.process.incarnation + 1, exit: null } });
}

describe("a turn is cut short", () => {
  test("by the death of its process", () => {
    const { session } = run(working(), exitedWith(137));
    expect(session.conversation.cutShort).toEqual({ turn: 1, incarnation: 1, at: context.now });
    expect(unresumedTurn(session)).toBeNull();
    expect(unresumedTurn(reborn(session))).toMatchObject({ turn: 1 });
  });

  test("by a restart, also if the agent says that it was interrupted before its process ends", () => {
    const { session } = run(working(), restart, read({ turn: { phase: "interrupted", id: "t1" } }), exitedWith(0));
    expect(session.conversation.cutShort).toMatchObject({ turn: 1, incarnation: 1 });
  });
});

describe("a turn is not cut short", () => {
  test("if it was over before", () => {
    const { session } = run(working(), read({ turn: { phase: "completed", id: "t1" } }), exitedWith(137));
    expect(session.conversation.cutShort).toBeNull();
  });

  test("if it completed after a restart was asked for", () => {
    const { session } = run(working(), restart, read({ turn: { phase: "completed", id: "t1" } }), exitedWith(0));
    expect(session.conversation.cutShort).toBeNull();
  });

  test("if its transcript shows later that it was complete", () => {
    const { session } = run(working(), exitedWith(137), read({ turn: { phase: "completed", id: "t1" } }));
    expect(unresumedTurn(reborn(session))).toBeNull();
  });
});

test("it is over once something else was begun, and forgotten at the next death", () => {
  const second = reborn(run(working(), exitedWith(137)).session);
  const input = read({ turn: { phase: "started", id: "t2" } });
  const { session } = run(second, { ...input, incarnation: 2 } as Input);
  expect(session.conversation.cutShort).toMatchObject({ turn: 1 });
  expect(unresumedTurn(session)).toBeNull();
  const over = run(session, { ...read({ turn: { phase: "completed", id: "t2" } }), incarnation: 2 } as Input).session;
  const dead = run(over, { ...exitedWith(1), incarnation: 2 } as Input).session;
  expect(dead.conversation.cutShort).toBeNull();
});
