/** How a turn ended: who is believed, what is corrected later, and what ends a turn whose end nothing tells. */
import { describe, expect, test } from "vitest";
import type { Input } from "./input.ts";
import { created, exitedWith, read, run, runningSession } from "./run-inputs.ts";
import { plannedSession } from "./session-fixture.ts";
import { completed, once, type Source, started, tell, told, turnsOf } from "./turn-fixture.ts";

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
    expect(session.conversation.lastTurn).toMatchObject({ verdict: "completed", verdictSource: "hook" });
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
    expect(session.conversation.lastTurn).toMatchObject({ verdict: "failed", error: "429" });
    expect(run(session, started("hook")).session.conversation.lastTurn).toMatchObject({ verdict: null, error: null });
  });
});

describe("what was only inferred is corrected by one that saw it", () => {
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
    expect(session.conversation.lastTurn).toMatchObject({
      verdict: "completed",
      verdictSource: "transcript",
      inferred: [],
    });
    expect([session.conversation.turns, session.conversation.turnOpen, session.conversation.activity.status]).toEqual([
      1,
      false,
      "idle",
    ]);
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
      plannedSession({ identity: { restartPolicy: "always" } }),
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

  test("history without a name ends the turn under way, and nothing else", () => {
    const past: Input = read({ source: "protocol", isHistory: true, turn: { phase: "completed" } });
    expect(tell(started("hook", "a"), past, completed("transcript", "a"))).toEqual(once);
    expect(tell(past)).toEqual({ turns: 0, isOpen: false, events: [] });
    expect(tell(started("protocol", "a"), completed("protocol", "a"), past)).toEqual(once);
  });

  test("a turn that was over before there was this session is not told", () => {
    const fresh = runningSession();
    const before = fresh.identity.createdAt - 1;
    const old = [
      told("transcript", { phase: "started", id: "x", at: before }),
      told("transcript", { phase: "completed", id: "x", at: before }),
      history("completed", "x", before),
    ];
    expect(run(fresh, ...old)).toEqual({ session: fresh, events: [] });
    expect(tell(history("completed", "y", fresh.identity.createdAt)).events).toEqual(["turn-completed 1"]);
  });
});

describe("a turn that says it is done, and whose end nothing tells", () => {
  const ending = read({ ending: { id: "a" } });
  const lost = read({ source: "transcript", transcript: "lost" });

  test.each<[string, readonly Input[]]>([
    ["its transcript was lost before", [started("hook", "a"), lost, ending]],
    ["its transcript is lost then", [started("hook", "a"), ending, lost]],
  ])("%s: that is its end", (_what, inputs) => {
    const { session, events } = run(runningSession(), ...inputs);
    expect(turnsOf(events)).toEqual(["turn-started 1", "turn-completed 1"]);
    expect(session).toMatchObject({ conversation: { turnOpen: false, activity: { status: "idle" } } });
  });

  test("while there is a transcript that may tell, it is none", () => {
    expect(tell(started("hook", "a"), ending)).toEqual({ turns: 1, isOpen: true, events: ["turn-started 1"] });
    expect(tell(started("hook", "a"), read({ ending: { id: "b" } }), lost).isOpen).toBe(true);
    expect(tell(ending, lost)).toEqual({ turns: 0, isOpen: false, events: [] });
  });
});
