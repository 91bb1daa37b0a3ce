import { describe, expect, test } from "vitest";
import type { Input } from "./input.ts";
import type { Reading } from "./reading.ts";
import { exitedWith, read, run, runningSession } from "./run-inputs.ts";
import type { Session } from "./session.ts";
import { settleSoft, weighSoft, type Weight } from "./weigh-soft.ts";

const asked = read({
  approval: { requested: { id: "p", kind: "command", title: "Run rm?", subject: null, cwd: null, reason: null } },
});
const started = read({ turn: { phase: "started", id: "t" } });
const screen = (reading: Partial<Reading>): Reading => ({ source: "screen", detail: "rule r", ...reading });
const after = (...inputs: readonly Input[]): Session => run(runningSession(), ...inputs).session;

const starting = after();
const idle = after(read({ activity: "idle" }));
const seenIdle = after(read({ source: "screen", activity: "idle" }));
const working = after(started);
const approving = after(started, asked);
const seenApproving = after(started, read({ source: "screen", activity: "awaiting-approval", asks: "rm" }));
const waiting = after(started, read({ activity: "awaiting-input", asks: "Which?" }));
const seenWaiting = after(started, read({ source: "screen", activity: "awaiting-input", asks: "Which?" }));
const waitingForWhat = after(read({ activity: "awaiting-input" }));
const waitingOutside = after(read({ activity: "awaiting-input", asks: "Trust?" }));
const statusIdle = after(read({ source: "status", activity: "idle" }));
const statusWorking = after(read({ source: "status", activity: "working" }));
const unknown = after(read({ source: "supervisor", activity: "unknown" }));
const dialog = (id: string): Partial<Reading> => ({
  activity: "awaiting-approval",
  approval: {
    requested: { id, kind: "other", title: "Trust?", subject: null, cwd: null, reason: null },
    choices: { approved: "Yes", denied: "No" },
  },
});
const trusting = after(read({ source: "screen", ...dialog("d") }));
const dead = after(started, exitedWith(0));

describe("how much a soft reading counts", () => {
  test.each<[string, Session, Partial<Reading>, Weight]>([
    ["of a dialog at the start", starting, dialog("d"), "now"],
    ["of a dialog that somebody opened", idle, dialog("d"), "if it stays"],
    ["of a dialog that is known", trusting, dialog("d"), "no"],
    ["of another dialog", trusting, dialog("e"), "now"],
    ["of a dialog beside a question that was told", approving, dialog("d"), "no"],
    ["of a dialog without choices after one with", trusting, { activity: "awaiting-input", asks: "Log in?" }, "now"],
    ["of an approval after a dialog", trusting, { activity: "awaiting-approval", asks: "rm?" }, "if it stays"],
    ["of a composer where a dialog was", trusting, { activity: "idle" }, "if it stays"],
    ["of the dead", dead, { activity: "working" }, "no"],
    ["that says nothing of the activity", working, { turn: { phase: "completed" } }, "no"],
    ["of a conversation that is news", idle, { activity: "idle", nativeId: "n" }, "now"],
    [
      "of a conversation that is known",
      after(read({ activity: "idle", nativeId: "n" })),
      { activity: "idle", nativeId: "n" },
      "no",
    ],

    ["while nothing better speaks: starting", starting, { activity: "working" }, "now"],
    ["of a composer that has just been drawn", starting, { activity: "idle" }, "if it stays"],
    ["while nothing better speaks: unknown", unknown, { activity: "working" }, "now"],

    ["of a question no hook brought", working, { activity: "awaiting-approval", asks: "rm" }, "if it stays"],
    ["of a question no hook brought, at the start", starting, { activity: "awaiting-approval" }, "if it stays"],
    [
      "of a question that is shown but not on record",
      seenApproving,
      { activity: "awaiting-approval", asks: "rm" },
      "if it stays",
    ],
    ["of a question that is on record", approving, { activity: "awaiting-approval", asks: "rm…" }, "no"],
    ["of another question while one is on record", approving, { activity: "awaiting-input", asks: "?" }, "no"],
    ["that input is awaited in a turn", working, { activity: "awaiting-input", asks: "Which?" }, "now"],
    // A dialog that somebody opened stays, half a redrawn screen does not.
    ["that input is awaited outside one", idle, { activity: "awaiting-input", asks: "Which model?" }, "if it stays"],
    ["that input is awaited, at the start", starting, { activity: "awaiting-input", asks: "Trust?" }, "now"],
    ["of something else than the composer", idle, { activity: "unknown" }, "if it stays"],
    ["of something else than the composer, at the start", starting, { activity: "unknown" }, "no"],
    ["of something else than the composer, during a question", waitingOutside, { activity: "unknown" }, "no"],

    ["that says nothing new", working, { activity: "working" }, "no"],
    ["that says nothing new, idle", idle, { activity: "idle" }, "no"],
    ["that asks the same", waiting, { activity: "awaiting-input", asks: "Which?" }, "no"],
    ["that asks nothing, as before", waitingForWhat, { activity: "awaiting-input" }, "no"],
    ["that asks something else", seenWaiting, { activity: "awaiting-input", asks: "How many?" }, "now"],
    ["with other words for what the agent asked", waiting, { activity: "awaiting-input", asks: "Wh…" }, "no"],
    ["that has a title of its own for what goes on", working, { activity: "working", asks: "thinking" }, "no"],

    ["idle in a turn: a hook may be on its way", working, { activity: "idle" }, "if it stays"],
    ["an end in a turn", working, { activity: "idle", turn: { phase: "interrupted" } }, "if it stays"],
    [
      "an end in a turn that still looks busy",
      working,
      { activity: "working", turn: { phase: "failed", error: "x" } },
      "if it stays",
    ],
    ["unknown in a turn", working, { activity: "unknown" }, "no"],
    ["working on after a question was answered in the pane", approving, { activity: "working" }, "if it stays"],
    ["working on after input was given in the pane", waiting, { activity: "working" }, "if it stays"],

    ["a beginning outside a turn", idle, { activity: "working", turn: { phase: "started" } }, "now"],
    ["a beginning in a turn", working, { activity: "working", turn: { phase: "started" } }, "no"],
    ["no question any more, outside a turn", waitingOutside, { activity: "idle" }, "if it stays"],
    // Idle by the agent's own word stays idle: a spinner of something in the background is no turn.
    ["a spinner when the agent said it is idle", idle, { activity: "working" }, "no"],
    ["a spinner when a screen said it is idle", seenIdle, { activity: "working" }, "if it stays"],
  ])("one %s", (_what, session, reading, weight) => {
    expect(weighSoft(session, screen(reading))).toBe(weight);
  });

  test.each<[string, Session, Reading["source"], Partial<Reading>, Weight]>([
    ["a status file against the agent's own word", idle, "status", { activity: "working" }, "no"],
    ["a status file against a screen", seenIdle, "status", { activity: "working" }, "now"],
    ["a status file against what it said before", statusWorking, "status", { activity: "idle" }, "if it stays"],
    ["a screen against a status file", statusIdle, "screen", { activity: "working" }, "no"],
    [
      "a screen's words for what a status file asks",
      after(read({ source: "status", activity: "awaiting-input", asks: "?" })),
      "screen",
      { activity: "awaiting-input", asks: "Which?" },
      "no",
    ],
    [
      "a status file's words for what a screen asks",
      seenWaiting,
      "status",
      { activity: "awaiting-input", asks: "?" },
      "now",
    ],
    ["a status file in a turn", working, "status", { activity: "idle" }, "if it stays"],
  ])("%s", (_what, session, source, reading, weight) => {
    expect(weighSoft(session, { source, detail: "x", ...reading })).toBe(weight);
  });
});

describe("what one that stayed amounts to", () => {
  test("idle in a turn: an end that nobody told, which is no success", () => {
    expect(settleSoft(working, screen({ activity: "idle" }))).toEqual({
      source: "screen",
      detail: "rule r; idle again, and no source reported an end",
      activity: "idle",
      turn: { phase: "interrupted" },
    });
    const told = screen({ activity: "idle", turn: { phase: "completed" } });
    expect(settleSoft(working, told)).toBe(told);
  });

  test("a question no hook brought: an approval in its words, or in ours", () => {
    const seen = settleSoft(working, screen({ activity: "awaiting-approval", asks: "Run rm?" }));
    expect(seen.approval).toEqual({
      requested: {
        id: `seen-1-1-${working.revision}`,
        kind: "other",
        title: "Run rm?",
        subject: null,
        cwd: null,
        reason: null,
      },
    });
    expect(settleSoft(working, screen({ activity: "awaiting-approval" })).approval).toMatchObject({
      requested: { title: "It asks for approval; look at its screen." },
    });
    const { session } = run(working, { type: "read", incarnation: 1, reading: seen });
    expect(session).toMatchObject({
      conversation: { approvals: [{ title: "Run rm?" }], activity: { status: "awaiting-approval" } },
    });
    expect(weighSoft(session, screen({ activity: "awaiting-approval", asks: "Run rm?" }))).toBe("no");
  });

  test("anything else: itself", () => {
    for (const reading of [screen({ activity: "working" }), screen({ activity: "awaiting-approval" })])
      expect(settleSoft(approving, reading)).toBe(reading);
  });

  test("idle in a turn that has said that it is done: its end", () => {
    const ending = run(working, read({ ending: { id: "t" } })).session;
    expect(settleSoft(ending, screen({ activity: "idle" }))).toEqual({
      source: "screen",
      detail: "rule r; idle again, and it had said that it was done",
      activity: "idle",
      turn: { phase: "completed" },
    });
  });

  test("an interruption that a screen made up is corrected by the hook that comes late", () => {
    const settled = run(working, {
      type: "read",
      incarnation: 1,
      reading: settleSoft(working, screen({ activity: "idle" })),
    });
    const late = run(settled.session, read({ activity: "idle", turn: { phase: "completed", id: "t" } }));
    expect(late.events).toMatchObject([
      { type: "turn-corrected", turn: 1, was: "interrupted", wasSource: "screen", verdict: "completed" },
    ]);
    expect(late.session.conversation.turns).toBe(1);
  });
});
