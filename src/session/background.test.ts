/** Working in the background is working, and the turn's end is told when it is over. */
import { describe, expect, test } from "vitest";
import { type BackgroundReading, isBackgroundOnly } from "./background.ts";
import type { Input } from "./input.ts";
import { pendingEffect } from "./pending-effect.ts";
import { exitedWith, read, run, runningSession } from "./run-inputs.ts";
import type { Session } from "./session.ts";
import { settleSoft, weighSoft } from "./weigh-soft.ts";

const tests = { id: "b", kind: "command", title: "npm test" } as const;
const server = { id: "s", kind: "command", title: "npm run dev" } as const;
const review = { id: "a", kind: "subagent", title: "review" } as const;

const prompt = (id: string): Input => read({ activity: "working", turn: { phase: "started", id, prompt: id } });
const woken = (id: string, ...ended: readonly string[]): Input =>
  read({ activity: "working", turn: { phase: "started", id, continues: true }, background: { ended } });
const stop = (id: string, ...running: Extract<BackgroundReading, { running: unknown }>["running"]): Input =>
  read({ activity: "idle", turn: { phase: "completed", id }, background: { running } });
const status = (activity: "idle" | "working", background?: BackgroundReading): Input =>
  read({ source: "status", activity, ...(background === undefined ? {} : { background }) });

function after(...inputs: readonly Input[]): { readonly session: Session; readonly events: readonly string[] } {
  const { session, events } = run(runningSession(), ...inputs);
  const told = events.flatMap((event) =>
    event.type.startsWith("turn-") && "turn" in event ? [`${event.type} ${event.turn}`] : [],
  );
  return { session, events: told };
}

describe("a turn whose agent has answered while something works on", () => {
  test.each([
    ["a subagent", review],
    ["a command", tests],
  ])("%s holds it: it works, and no end is told", (_what, task) => {
    const { session, events } = after(prompt("1"), stop("1", task));
    expect(events).toEqual(["turn-started 1"]);
    expect(session).toMatchObject({
      conversation: { turnOpen: true, activity: { status: "working" }, background: [{ ...task, holds: true }] },
    });
    expect(isBackgroundOnly(session)).toBe(true);
    const ending = run(session, { type: "end", graceMs: 1, afterTurn: true }).session;
    expect(pendingEffect(ending)).toBe(null);
  });

  test("the turn that its end begins is the same one, and that one's end is told", () => {
    const { session, events } = after(prompt("1"), stop("1", review), woken("2", "a"), stop("2"));
    expect(events).toEqual(["turn-started 1", "turn-completed 1"]);
    expect(session).toMatchObject({
      conversation: { turns: 1, turnOpen: false, activity: { status: "idle" }, background: [] },
    });
    expect(session.conversation.lastTurn).toMatchObject({ id: "2", earlier: ["1"], verdict: "completed" });
  });

  test("of two the last one ends it", () => {
    const both = [prompt("1"), stop("1", review, tests), woken("2", "a"), stop("2", tests)];
    expect(after(...both).session).toMatchObject({ conversation: { turnOpen: true, background: [{ id: "b" }] } });
    expect(after(...both, woken("3", "b"), stop("3")).events).toEqual(["turn-started 1", "turn-completed 1"]);
  });

  test("what wakes the agent in the middle of a turn changes nothing of it", () => {
    const { session, events } = after(prompt("1"), stop("1", review), prompt("2"), woken("2", "a"), stop("2"));
    expect(events).toEqual(["turn-started 1", "turn-completed 1", "turn-started 2", "turn-completed 2"]);
    expect(session.conversation.background).toEqual([]);
  });

  test("a message begins the next turn, and the one before is complete", () => {
    const { session, events } = after(prompt("1"), stop("1", review), prompt("2"));
    expect(events).toEqual(["turn-started 1", "turn-completed 1", "turn-started 2"]);
    expect([session.conversation.turnOpen, isBackgroundOnly(session)]).toEqual([true, false]);
    expect(after(prompt("1"), stop("1", review), prompt("2"), stop("2", review)).session.conversation.turnOpen).toBe(
      true,
    );
  });

  test("a command holds the turn that started it, and no later one; a subagent holds all", () => {
    const { session, events } = after(prompt("1"), stop("1", server), prompt("2"), stop("2", server));
    expect(events).toEqual(["turn-started 1", "turn-completed 1", "turn-started 2", "turn-completed 2"]);
    expect(session).toMatchObject({
      conversation: { activity: { status: "idle" }, background: [{ id: "s", holds: false }] },
    });
  });

  test("one that is waited for no longer ends the turn, and is still shown", () => {
    const held = after(prompt("1"), stop("1", server)).session;
    const released: Input = read({
      source: "supervisor",
      activity: "idle",
      turn: { phase: "completed" },
      background: { released: ["s"] },
    });
    const { session, events } = run(held, released);
    expect(events.map(({ type }) => type)).toEqual(["turn-completed", "activity-changed"]);
    expect(session).toMatchObject({
      conversation: { turnOpen: false, activity: { status: "idle" }, background: [{ holds: false }] },
    });
    expect(run(session, woken("2", "s")).events.map(({ type }) => type)).toEqual(["turn-started", "activity-changed"]);
  });

  test("a turn that was interrupted is told at once; its subagent works on, and that is working", () => {
    const { session, events } = after(
      prompt("1"),
      read({ background: { started: review } }),
      read({ source: "transcript", activity: "idle", turn: { phase: "interrupted", id: "1" } }),
    );
    expect(events).toEqual(["turn-started 1", "turn-interrupted 1"]);
    expect(session).toMatchObject({ conversation: { turnOpen: false, activity: { status: "working" } } });
    expect(isBackgroundOnly(session)).toBe(true);
  });

  test("a lost transcript does not end it, a death does", () => {
    const lost = read({ source: "transcript", transcript: "lost" });
    expect(after(prompt("1"), stop("1", review), lost).session.conversation.turnOpen).toBe(true);
    expect(after(prompt("1"), stop("1", review), exitedWith(1)).session).toMatchObject({
      conversation: { turnOpen: false, background: [] },
    });
  });
});

describe("what onlookers say of it", () => {
  const held = after(prompt("1"), stop("1", review, tests)).session;
  const idle = (source: "status" | "screen", background?: BackgroundReading) =>
    ({ source, detail: "x", activity: "idle", ...(background === undefined ? {} : { background }) }) as const;

  test("a free composer is no end, nor is a status file that still tells of a command", () => {
    expect(weighSoft(held, idle("screen"))).toBe("no");
    expect(weighSoft(held, idle("status", { running: [tests] }))).toBe("no");
  });

  test("a status file that tells of nothing any more ends the turn if it stays: somebody ended them by hand", () => {
    const reading = idle("status", { running: [] });
    expect(weighSoft(held, reading)).toBe("if it stays");
    const { session, events } = run(held, { type: "read", incarnation: 1, reading: settleSoft(held, reading) });
    expect(events.map(({ type }) => type)).toEqual(["turn-completed", "activity-changed"]);
    expect(session).toMatchObject({ conversation: { turnOpen: false, background: [], activity: { status: "idle" } } });
  });

  test("outside a turn, too", () => {
    const { session } = after(status("idle"), read({ background: { started: review } }), status("working"));
    const working = run(session, read({ activity: "working" })).session;
    expect(weighSoft(working, idle("status", { running: [] }))).toBe("if it stays");
  });
});
