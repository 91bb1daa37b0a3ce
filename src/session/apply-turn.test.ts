import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "./event.ts";
import type { Input } from "./input.ts";
import type { TurnReading } from "./reading.ts";
import { created, exitedWith, read, run, runningSession, types } from "./run-inputs.ts";
import type { Evidence } from "./session.ts";
import { plannedSession } from "./session-fixture.ts";

type Source = Evidence["source"];

const told = (source: Source, turn: TurnReading): Input => read({ source, turn });
const started = (source: Source, id?: string): Input =>
  told(source, { phase: "started", ...(id === undefined ? {} : { id }) });
const completed = (source: Source, id?: string): Input =>
  told(source, { phase: "completed", ...(id === undefined ? {} : { id }) });

const turnsOf = (events: readonly SessionEvent[]): readonly string[] =>
  events.flatMap((event) => ("turn" in event ? [`${event.type} ${event.turn}`] : []));

/** What was logged about turns, and how many were counted. */
function tell(...inputs: readonly Input[]) {
  const { session, events } = run(runningSession(), ...inputs);
  return { turns: session.turns, isOpen: session.turnOpen, events: turnsOf(events) };
}

const once = { turns: 1, isOpen: false, events: ["turn-started 1", "turn-completed 1"] };

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
        expect(session.turns).toBe(count);
        const ends = events.flatMap((event) =>
          event.type === "turn-completed" || event.type === "turn-interrupted" ? [event.turn] : [],
        );
        const hasEnds = parts.some((part) => part !== "starts");
        // Where nobody tells of ends, the last turn is still under way.
        expect(ends).toEqual(Array.from({ length: hasEnds ? count : count - 1 }, (_, turn) => turn + 1));
        expect(session.turnOpen).toBe(!hasEnds);
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
    expect(session.lastTurn?.earlier).toEqual(Array.from({ length: 64 }, (_, index) => `t${435 + index}`));
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
    expect(asking).toMatchObject({ activity: { status: "awaiting-approval" }, approvals: [{ id: "p" }] });
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
    const before = runningSession({ turns: 3, turnOpen: true, lastTurn: null });
    const { session, events } = run(before, started("hook", "a"), completed("hook", "a"));
    expect(turnsOf(events)).toEqual(["turn-completed 3"]);
    expect(session.lastTurn).toEqual({
      startedAt: null,
      id: "a",
      verdict: "completed",
      error: null,
      verdictSource: "hook",
      isEnding: false,
      earlier: [],
      inferred: [],
    });
  });
});

describe("verdicts", () => {
  const failed = (source: Source, id?: string): Input =>
    told(source, { phase: "failed", error: "429", ...(id === undefined ? {} : { id }) });

  test("the first counts, another is logged, the same again is not", () => {
    const { session, events } = run(
      runningSession(),
      started("hook", "a"),
      completed("hook", "a"),
      failed("transcript", "a"),
      completed("transcript", "a"),
    );
    expect(session.lastTurn).toMatchObject({ verdict: "completed", verdictSource: "hook" });
    expect(events.filter(({ type }) => type === "turn-disputed")).toEqual([
      {
        type: "turn-disputed",
        turn: 1,
        counted: "completed",
        countedSource: "hook",
        other: "failed",
        evidence: { source: "transcript", detail: "a hook", at: 2_000 },
      },
    ]);
  });

  test("a failure says why, until the next turn", () => {
    const { session, events } = run(runningSession(), started("hook"), failed("hook"));
    expect(events.at(-2)).toMatchObject({ type: "turn-failed", turn: 1, error: "429" });
    expect(session.lastTurn).toMatchObject({ verdict: "failed", error: "429" });
    expect(run(session, started("hook")).session.lastTurn).toMatchObject({ verdict: null, error: null });
  });
});

describe("issue 7, 11: what was only inferred is corrected by one that saw it", () => {
  const history = (phase: "completed" | "interrupted", id: string, at?: number): Input =>
    read({
      source: "protocol",
      isHistory: true,
      turn: { phase, id, ...(at === undefined ? {} : { at }) },
    });
  const interrupted = (source: Source, id?: string): Input =>
    told(source, { phase: "interrupted", ...(id === undefined ? {} : { id }) });

  test("an interruption that was read from history: the record says what is right, and so does an event", () => {
    const { session, events } = run(
      runningSession(),
      started("protocol", "a"),
      history("interrupted", "a"),
      completed("transcript", "a"),
    );
    expect(session.lastTurn).toMatchObject({ verdict: "completed", verdictSource: "transcript", inferred: [] });
    expect([session.turns, session.turnOpen, session.activity.status]).toEqual([1, false, "idle"]);
    expect(events.filter(({ type }) => type === "turn-corrected")).toEqual([
      {
        type: "turn-corrected",
        turn: 1,
        verdict: "completed",
        error: null,
        was: "interrupted",
        wasSource: "protocol",
        evidence: { source: "transcript", detail: "a hook", at: 2_000 },
      },
    ]);
    expect(tell(started("protocol", "a"), history("interrupted", "a"), interrupted("transcript", "a")).events).toEqual([
      "turn-started 1",
      "turn-interrupted 1",
    ]);
  });

  test.each<[string, readonly Input[], readonly string[]]>([
    [
      "a screen's guess, told by a source that names the turn",
      [started("hook"), interrupted("screen"), completed("hook", "a")],
      ["turn-started 1", "turn-interrupted 1", "turn-corrected 1"],
    ],
    [
      "a screen's guess, told by one that does not",
      [started("hook", "a"), interrupted("screen"), completed("hook")],
      ["turn-started 1", "turn-interrupted 1", "turn-corrected 1"],
    ],
    [
      "a turn that another one overtook",
      [started("hook", "a"), started("hook", "b"), completed("transcript", "a"), completed("transcript", "b")],
      ["turn-started 1", "turn-interrupted 1", "turn-started 2", "turn-corrected 1", "turn-completed 2"],
    ],
    [
      "a turn that had said it was done, and another one overtook",
      [started("hook", "a"), read({ ending: { id: "a" } }), started("hook", "b"), completed("transcript", "a")],
      ["turn-started 1", "turn-completed 1", "turn-started 2"],
    ],
    [
      "once, and not again",
      [
        started("hook", "a"),
        interrupted("screen"),
        completed("hook", "a"),
        interrupted("transcript", "a"),
        completed("protocol", "a"),
      ],
      ["turn-started 1", "turn-interrupted 1", "turn-corrected 1", "turn-disputed 1"],
    ],
    [
      "not by another guess",
      [started("hook", "a"), interrupted("screen"), history("completed", "a")],
      ["turn-started 1", "turn-interrupted 1"],
    ],
    [
      "not by the end of another turn",
      [started("hook", "a"), interrupted("screen"), completed("hook", "b")],
      ["turn-started 1", "turn-interrupted 1", "turn-completed 2"],
    ],
  ])("%s", (_what, inputs, events) => {
    expect(tell(...inputs).events).toEqual(events);
  });

  test("history overrules nobody, and tells nothing of what is over", () => {
    const over = run(runningSession(), started("hook", "a"), completed("hook", "a")).session;
    expect(run(over, history("interrupted", "a"))).toEqual({ session: over, events: [] });
    const cut = run(
      plannedSession({ restartPolicy: "always" }),
      created,
      started("hook", "a"),
      exitedWith(1),
      { type: "cleared", incarnation: 1, isPlaceGone: false, evidence: { source: "runtime", detail: "gone", at: 1 } },
      { type: "restart-due" },
      { ...created, incarnation: 2 } as Input,
    ).session;
    const resumed: Input = { ...history("interrupted", "a"), incarnation: 2 } as Input;
    expect(run(cut, resumed)).toEqual({ session: cut, events: [] });
  });

  test("issue 7, 6: history without a name ends the turn under way, and nothing else", () => {
    const past: Input = read({ source: "protocol", isHistory: true, turn: { phase: "completed" } });
    expect(tell(started("hook", "a"), past, completed("transcript", "a"))).toEqual(once);
    expect(tell(past)).toEqual({ turns: 0, isOpen: false, events: [] });
    expect(tell(started("protocol", "a"), completed("protocol", "a"), past)).toEqual(once);
  });

  test("a turn that was over before there was this session is not told", () => {
    const fresh = runningSession();
    const before = fresh.createdAt - 1;
    const old = [
      told("transcript", { phase: "started", id: "x", at: before }),
      told("transcript", { phase: "completed", id: "x", at: before }),
      history("completed", "x", before),
    ];
    expect(run(fresh, ...old)).toEqual({ session: fresh, events: [] });
    expect(tell(history("completed", "y", fresh.createdAt)).events).toEqual(["turn-completed 1"]);
  });
});

describe("issue 7, 6: a turn that says it is done, and whose end nothing tells", () => {
  const ending = read({ ending: { id: "a" } });
  const lost = read({ source: "transcript", transcript: "lost" });

  test.each<[string, readonly Input[]]>([
    ["its transcript was lost before", [started("hook", "a"), lost, ending]],
    ["its transcript is lost then", [started("hook", "a"), ending, lost]],
  ])("%s: that is its end", (_what, inputs) => {
    const { session, events } = run(runningSession(), ...inputs);
    expect(turnsOf(events)).toEqual(["turn-started 1", "turn-completed 1"]);
    expect(session).toMatchObject({ turnOpen: false, activity: { status: "idle" } });
  });

  test("while there is a transcript that may tell, it is none", () => {
    expect(tell(started("hook", "a"), ending)).toEqual({ turns: 1, isOpen: true, events: ["turn-started 1"] });
    expect(tell(started("hook", "a"), read({ ending: { id: "b" } }), lost).isOpen).toBe(true);
    expect(tell(ending, lost)).toEqual({ turns: 0, isOpen: false, events: [] });
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
    expect(session).toMatchObject({ turns: 1, turnOpen: false, activity: { status: "unknown" } });
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
    expect(session).toMatchObject({ turns: 2, turnOpen: false, activity: { status: "unknown", asks: null } });
  });

  test("an end after it whose beginning was missed is a turn of its own, unless one was cut short", () => {
    const ended = run(runningSession(), started("hook", "a"), completed("hook", "a"), exitedWith(0)).session;
    expect(turnsOf(run(ended, completed("hook", "b")).events)).toEqual(["turn-completed 2"]);
    const cut = run(runningSession(), started("hook"), exitedWith(1)).session;
    expect(turnsOf(run(cut, completed("hook")).events)).toEqual(["turn-completed 1"]);
  });

  test("nothing of the incarnation before reaches the next", () => {
    const next = run(
      plannedSession({ restartPolicy: "always" }),
      created,
      started("hook", "a"),
      exitedWith(1),
      { type: "cleared", incarnation: 1, isPlaceGone: false, evidence: { source: "runtime", detail: "gone", at: 1 } },
      { type: "restart-due" },
    ).session;
    expect(next.incarnation).toBe(2);
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
  expect([session.stalledAt, types(events).at(-1)]).toEqual([7, "session-stalled"]);
  expect(run(session, completed("hook", "a")).session.stalledAt).toBeNull();
});
