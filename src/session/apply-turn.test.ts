/** Which turns are counted, and when, whoever tells of them and in whatever order. How they ended: turn-verdict.test.ts. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Input } from "./input.ts";
import { created, exitedWith, read, run, runningSession, types } from "./run-inputs.ts";
import { plannedSession } from "./session-fixture.ts";
import { completed, once, type Source, started, tell, told, turnsOf } from "./turn-fixture.ts";

describe("two sources tell of one turn", () => {
  test.each<[string, readonly Input[]]>([
    [
      "in step",
      [started("hook", "a"), started("transcript", "a"), completed("hook", "a"), completed("transcript", "a")],
    ],
    [
      "one ahead",
      [started("hook", "a"), completed("hook", "a"), started("transcript", "a"), completed("transcript", "a")],
    ],
    ["crosswise", [started("hook", "a"), started("protocol", "a"), completed("protocol", "a"), completed("hook", "a")]],
    ["one only the end", [started("hook", "a"), completed("transcript", "a"), completed("hook", "a")]],
    ["without ids, in step", [started("hook"), started("transcript"), completed("hook"), completed("transcript")]],
    ["without ids, ends only", [started("hook"), completed("hook"), completed("transcript"), completed("screen")]],
    [
      "the id comes second",
      [started("hook"), started("transcript", "a"), completed("hook"), completed("transcript", "a")],
    ],
    [
      "the id comes first",
      [started("transcript", "a"), started("hook"), completed("transcript", "a"), completed("hook")],
    ],
    ["only the ends have ids", [started("hook"), completed("hook", "a"), completed("transcript", "a")]],
    [
      "only the starts have ids",
      [started("hook", "a"), completed("hook"), completed("transcript"), started("transcript", "a")],
    ],
  ])("%s: counted once", (_how, inputs) => {
    expect(tell(...inputs)).toEqual(once);
  });

  test("any interleaving of sources that each tell in order counts each turn once", () => {
    const sources: readonly Source[] = ["hook", "transcript", "protocol"];
    const stories = fc.integer({ min: 1, max: 8 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        // Each source tells everything, or only beginnings, or only ends.
        parts: fc.array(fc.constantFrom("all", "starts", "ends"), { minLength: 1, maxLength: 3 }),
        order: fc.infiniteStream(fc.nat()),
      }),
    );
    fc.assert(
      fc.property(stories, ({ count, parts, order }) => {
        const tellers = parts.map((part, index) => {
          const source = sources[index] ?? "hook";
          return Array.from({ length: count }, (_, turn) => [
            started(source, `t${turn}`),
            completed(source, `t${turn}`),
          ])
            .flat()
            .filter((_input, at) => part === "all" || (part === "starts") === (at % 2 === 0));
        });
        const inputs: Input[] = [];
        for (const pick of order) {
          const waiting = tellers.filter((rest) => rest.length > 0);
          if (waiting.length === 0) break;
          inputs.push(waiting[pick % waiting.length]?.shift() ?? created);
        }
        const { session, events } = run(runningSession(), ...inputs);
        expect(session.conversation.turns).toBe(count);
        const ends = events.flatMap((event) =>
          event.type === "turn-completed" || event.type === "turn-interrupted" ? [event.turn] : [],
        );
        const hasEnds = parts.some((part) => part !== "starts");
        // Where nobody tells of ends, the last turn is still under way.
        expect(ends).toEqual(Array.from({ length: hasEnds ? count : count - 1 }, (_, turn) => turn + 1));
        expect(session.conversation.turnOpen).toBe(!hasEnds);
      }),
      { numRuns: 1_000 },
    );
  });

  test("a transcript that is read after many turns tells nothing new", () => {
    const turns = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const live = turns.flatMap((id) => [started("hook", id), completed("hook", id)]);
    const late = turns.flatMap((id) => [started("transcript", id), completed("transcript", id)]);
    const before = run(runningSession(), ...live).session;
    expect(run(before, ...late)).toEqual({ session: before, events: [] });
  });

  test("how many are remembered is bounded", () => {
    const live = Array.from({ length: 500 }, (_, index) => [
      started("hook", `t${index}`),
      completed("hook", `t${index}`),
    ]);
    const { session } = run(runningSession(), ...live.flat());
    expect(session.conversation.lastTurn?.earlier).toEqual(Array.from({ length: 64 }, (_, index) => `t${435 + index}`));
  });
});

describe("late and missing reports", () => {
  test("a start after its end begins nothing and changes no activity", () => {
    const ended = run(runningSession(), started("hook", "a"), completed("hook", "a")).session;
    expect(
      run(ended, read({ source: "transcript", activity: "working", turn: { phase: "started", id: "a" } })),
    ).toEqual({
      session: ended,
      events: [],
    });
  });

  test("a second report of a start does not take back a question that was asked since", () => {
    const request = { id: "p", kind: "command", title: "rm", subject: null, cwd: null, reason: null } as const;
    const asking = run(runningSession(), started("hook", "a"), read({ approval: { requested: request } })).session;
    expect(asking).toMatchObject({
      conversation: { activity: { status: "awaiting-approval" }, approvals: [{ id: "p" }] },
    });
    expect(
      run(asking, read({ source: "transcript", activity: "working", turn: { phase: "started", id: "a" } })),
    ).toEqual({ session: asking, events: [] });
  });

  test("an end that overtook its own beginning, and the end of the turn before it, counts both", () => {
    const overtaken = [started("hook", "a"), completed("hook", "b")];
    const both = {
      turns: 2,
      isOpen: false,
      events: ["turn-started 1", "turn-interrupted 1", "turn-completed 2"],
    };
    expect(tell(...overtaken)).toEqual(both);
    const late = [told("transcript", { phase: "interrupted", id: "a" }), started("transcript", "b")];
    expect(tell(...overtaken, ...late)).toEqual(both);
  });

  test("the end of an earlier turn leaves the one under way alone", () => {
    const second = run(runningSession(), started("hook", "a"), completed("hook", "a"), started("hook", "b")).session;
    expect(
      run(second, read({ source: "transcript", activity: "idle", turn: { phase: "completed", id: "a" } })),
    ).toEqual({
      session: second,
      events: [],
    });
  });

  test("another turn begins while one is open: the open one was interrupted", () => {
    expect(tell(started("hook", "a"), started("hook", "b"), completed("hook", "b"))).toEqual({
      turns: 2,
      isOpen: false,
      events: ["turn-started 1", "turn-interrupted 1", "turn-started 2", "turn-completed 2"],
    });
  });

  test("an end whose beginning was missed is counted, with its id, without, and for each source's next one", () => {
    expect(tell(completed("hook", "a"))).toEqual({ turns: 1, isOpen: false, events: ["turn-completed 1"] });
    expect(tell(completed("hook"))).toEqual({ turns: 1, isOpen: false, events: ["turn-completed 1"] });
    expect(tell(completed("hook"), completed("hook")).events).toEqual(["turn-completed 1", "turn-completed 2"]);
    expect(tell(completed("hook", "a"), completed("hook", "b"), started("transcript", "a")).turns).toBe(2);
  });

  test("an end from before the turn under way began is another turn's", () => {
    const begun = [
      told("hook", { phase: "started", at: 1_000 }),
      told("transcript", { phase: "interrupted", at: 1_500 }),
    ];
    const next = [told("hook", { phase: "started", at: 2_000 }), told("hook", { phase: "interrupted", at: 1_500 })];
    expect(tell(...begun, ...next, told("hook", { phase: "completed", at: 2_500 }))).toEqual({
      turns: 2,
      isOpen: false,
      events: ["turn-started 1", "turn-interrupted 1", "turn-started 2", "turn-completed 2"],
    });
  });

  test("two turns of one source without ids are two", () => {
    expect(tell(started("hook"), completed("hook"), started("hook"), completed("hook")).turns).toBe(2);
  });

  test("a record of version 0.1 with a turn under way gets the id of that turn", () => {
    const before = runningSession({ conversation: { turns: 3, turnOpen: true, lastTurn: null } });
    const { session, events } = run(before, started("hook", "a"), completed("hook", "a"));
    expect(turnsOf(events)).toEqual(["turn-completed 3"]);
    expect(session.conversation.lastTurn).toEqual({
      startedAt: null,
      id: "a",
      verdict: "completed",
      error: null,
      failure: null,
      verdictSource: "hook",
      isEnding: false,
      stops: 1,
      prolonged: 0,
      earlier: [],
      inferred: [],
    });
  });
});

describe("screens", () => {
  test("one that shows an end makes no turn of it, however often it is seen", () => {
    expect(tell(completed("screen"), completed("screen", "a")).turns).toBe(0);
    expect(tell(started("hook", "a"), completed("hook", "a"), completed("screen"))).toEqual(once);
    const declared = tell(started("screen"), completed("screen"), completed("screen"), completed("screen"));
    expect(declared).toEqual(once);
  });

  test("one that shows an end ends the turn under way", () => {
    expect(tell(started("screen"), completed("screen"))).toEqual(once);
  });
});

describe("after the exit", () => {
  test("the end of the turn it died in still counts, once", () => {
    const { session, events } = run(
      runningSession(),
      started("hook", "a"),
      exitedWith(0),
      completed("hook", "a"),
      completed("transcript", "a"),
      started("transcript", "a"),
    );
    expect(turnsOf(events)).toEqual(["turn-started 1", "turn-completed 1"]);
    expect(session).toMatchObject({ conversation: { turns: 1, turnOpen: false, activity: { status: "unknown" } } });
  });

  test("a whole turn that was told too late is counted and leaves nothing open", () => {
    const { session, events } = run(
      runningSession(),
      started("hook", "a"),
      completed("hook", "a"),
      exitedWith(0),
      started("hook", "b"),
      completed("hook", "b"),
    );
    expect(turnsOf(events)).toEqual(["turn-started 1", "turn-completed 1", "turn-started 2", "turn-completed 2"]);
    expect(session).toMatchObject({
      conversation: { turns: 2, turnOpen: false, activity: { status: "unknown", asks: null } },
    });
  });

  test("an end after it whose beginning was missed is a turn of its own, unless one was cut short", () => {
    const ended = run(runningSession(), started("hook", "a"), completed("hook", "a"), exitedWith(0)).session;
    expect(turnsOf(run(ended, completed("hook", "b")).events)).toEqual(["turn-completed 2"]);
    const cut = run(runningSession(), started("hook"), exitedWith(1)).session;
    expect(turnsOf(run(cut, completed("hook")).events)).toEqual(["turn-completed 1"]);
  });

  test("nothing of the incarnation before reaches the next", () => {
    const next = run(
      plannedSession({ identity: { restartPolicy: "always" } }),
      created,
      started("hook", "a"),
      exitedWith(1),
      { type: "cleared", incarnation: 1, isPlaceGone: false, evidence: { source: "runtime", detail: "gone", at: 1 } },
      { type: "restart-due" },
    ).session;
    expect(next.process.incarnation).toBe(2);
    expect(run(next, completed("hook", "a"))).toEqual({ session: next, events: [] });
  });
});

test("a stalled turn is one of which something was heard again with its end", () => {
  const stalled: Input = {
    type: "stalled",
    incarnation: 1,
    evidence: { source: "supervisor", detail: "silence", at: 7 },
  };
  const { session, events } = run(runningSession(), started("hook", "a"), stalled);
  expect([session.conversation.stalledAt, types(events).at(-1)]).toEqual([7, "session-stalled"]);
  expect(run(session, completed("hook", "a")).session.conversation.stalledAt).toBeNull();
});
