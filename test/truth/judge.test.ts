/** Each kind of lie is caught, and what is true or merely late is not called one. */
import { describe, expect, test } from "vitest";
import type { History } from "./history.ts";
import { activity, event, sample, sent, T0, trueHistory, turn, wake } from "./history-fixture.ts";
import { judge } from "./judge.ts";
import { wakeDelays } from "./judge-wakes.ts";

const kinds = (history: History): readonly string[] => judge(history).map(({ kind }) => kind);
const base = trueHistory();
const without = (seq: number): Pick<History, "events" | "wakes"> => ({
  events: base.events.filter((one) => one.seq !== seq),
  wakes: base.wakes.filter((one) => one.cursor !== seq),
});

test("what was told as it was is no finding", () => {
  expect(judge(base)).toEqual([]);
  expect(wakeDelays(base)).toEqual([60]);
});

describe("turns", () => {
  test.each([
    ["idle in list", { samples: [sample(6_000)] }],
    ["idle as an event", { events: [...base.events, activity(9, 6_000, "idle")] }],
    [
      "an end that comes before the end",
      { events: base.events.map((one) => (one.seq === 5 ? { ...one, at: T0 + 6_000 } : one)) },
    ],
    [
      "idle while a question stands",
      {
        questions: [{ subject: "touch x", askedAt: T0 + 12_000, settledAt: T0 + 20_000, count: 1 }],
        samples: [sample(17_000)],
      },
    ],
    [
      "idle while a dialog is open",
      { dialogs: [{ from: T0 + 12_000, to: T0 + 20_000, what: "/model" }], samples: [sample(17_000)] },
    ],
  ])("%s", (_what, more) => {
    expect(kinds(trueHistory(more))).toContain("false-idle");
  });

  test("late news is not false: just after the turn began, or after the daemon came back", () => {
    expect(kinds(trueHistory({ samples: [sample(2_500)] }))).toEqual([]);
    const disturbances = [{ from: T0 + 1_500, to: T0 + 5_000, what: "no daemon" }];
    expect(kinds(trueHistory({ samples: [sample(6_000)], disturbances }))).toEqual([]);
    expect(kinds(trueHistory({ samples: [sample(9_000)], disturbances }))).toEqual(["false-idle"]);
    expect(kinds(trueHistory({ samples: [sample(6_000)], lagMs: 1_000 }))).toEqual([]);
  });

  test("a dialog of a Codex that is spoken to by protocol says nothing", () => {
    const dialogs = [{ from: T0 + 12_000, to: T0 + 20_000, what: "/model" }];
    expect(kinds(trueHistory({ mode: "codex", dialogs, samples: [sample(17_000)] }))).toEqual([]);
  });

  test("an end that is not told, told twice, or told wrongly", () => {
    expect(kinds(trueHistory(without(5)))).toEqual(["missed-wake"]);
    const twice = [...base.events, event(9, 12_000, "turn-completed")];
    expect(kinds(trueHistory({ events: twice, wakes: [...base.wakes, wake(9, 12_000, "turn-completed")] }))).toEqual([
      "doubled-wake",
    ]);
    expect(kinds(trueHistory({ turns: [turn(1_000, 11_000, { verdict: "failed" })] }))).toEqual(["wrong-reason"]);
    expect(kinds(trueHistory({ turns: [turn(1_000, 11_000, { verdict: "interrupted" })] }))).toEqual(["wrong-reason"]);
  });

  test("what died need not be told, nor what was put into a turn", () => {
    const died = turn(12_000, 30_000, { verdict: "died", prompt: "q0n2q" });
    const joined = turn(11_000, 11_010, { mayJoin: true, prompt: "q0n3q", says: null });
    expect(kinds(trueHistory({ turns: [turn(1_000, 11_000), died] }))).toEqual([]);
    expect(kinds(trueHistory({ turns: [turn(1_000, 11_000), joined] }))).toEqual([]);
  });

  test("ends told late, all at once, are told all the same", () => {
    const turns = [
      turn(1_000, 2_000),
      turn(3_000, 4_000, { prompt: "q0n2q", says: null, verdict: "failed" }),
      turn(5_000, 6_000, { prompt: "q0n3q", says: null }),
    ];
    const events = [
      event(5, 20_000, "turn-completed"),
      event(6, 20_000, "turn-failed"),
      event(7, 20_000, "turn-completed"),
    ];
    const wakes = events.map((one) => wake(one.seq, 20_010, one.type, "hello"));
    const more = { turns, deaths: [], samples: [], events: [...base.events.slice(0, 4), ...events], wakes };
    expect(kinds(trueHistory(more))).toEqual([]);
    const [first, second, third] = events;
    if (first === undefined || second === undefined || third === undefined) throw new Error("three ends");
    const swapped = {
      ...more,
      events: [...base.events.slice(0, 4), first, { ...second, type: "turn-interrupted" }, third],
    };
    expect(
      kinds(
        trueHistory({
          ...swapped,
          wakes: swapped.events.slice(4).map((one) => wake(one.seq, 20_010, one.type, "hello")),
        }),
      ),
    ).toEqual(["wrong-reason"]);
  });
});

describe("waiters", () => {
  const question = { subject: "touch x", askedAt: T0 + 12_000, settledAt: T0 + 25_000, count: 1 };
  const asks = (seq: number, at: number, text: string | null = "touch x") => ({
    event: activity(seq, at, "awaiting-approval", text),
    wake: wake(seq, at + 10, "awaiting-approval"),
  });
  const withQuestions = (...told: readonly ReturnType<typeof asks>[]): History =>
    trueHistory({
      questions: [question],
      events: [...base.events, ...told.map((one) => one.event)],
      wakes: [...base.wakes, ...told.map((one) => one.wake)],
    });

  test("an end in the log that wakes nobody, or twice, or by another name", () => {
    expect(kinds(trueHistory({ wakes: base.wakes.slice(1) }))).toEqual(["missed-wake"]);
    expect(kinds(trueHistory({ wakes: [...base.wakes, wake(5, 11_070, "turn-completed")] }))).toEqual(["doubled-wake"]);
    expect(kinds(trueHistory({ wakes: [wake(5, 11_060, "turn-failed"), ...base.wakes.slice(1)] }))).toEqual([
      "wrong-reason",
    ]);
  });

  test("a question wakes once, with what is asked", () => {
    expect(kinds(withQuestions(asks(9, 12_100)))).toEqual([]);
    expect(kinds(withQuestions())).toEqual(["missed-wake"]);
    expect(kinds(withQuestions(asks(9, 12_100), asks(10, 12_200)))).toEqual(["doubled-wake"]);
    expect(kinds(withQuestions(asks(9, 12_100, null)))).toEqual(["wrong-reason"]);
  });

  test("a question, a dialog or a stall that is none", () => {
    const stray = (reason: string, told: History["events"][number]): readonly string[] =>
      kinds(trueHistory({ events: [...base.events, told], wakes: [...base.wakes, wake(told.seq, 20_000, reason)] }));
    expect(stray("awaiting-approval", activity(9, 20_000, "awaiting-approval", "x"))).toEqual(["wrong-reason"]);
    expect(stray("awaiting-input", activity(9, 20_000, "awaiting-input", "x"))).toEqual(["wrong-reason"]);
    expect(stray("stalled", event(9, 20_000, "session-stalled"))).toEqual(["wrong-reason"]);
    expect(stray("stalled", event(9, 10_000, "session-stalled"))).toEqual([]);
  });

  test("one dialog that wakes twice", () => {
    const dialogs = [{ from: T0 + 12_000, to: T0 + 20_000, what: "/model" }];
    const events = [
      ...base.events,
      activity(9, 12_100, "awaiting-input", "a"),
      activity(10, 12_200, "awaiting-input", "b"),
    ];
    const wakes = [...base.wakes, wake(9, 12_110, "awaiting-input"), wake(10, 12_210, "awaiting-input")];
    expect(kinds(trueHistory({ dialogs, events, wakes }))).toEqual(["doubled-wake"]);
    expect(kinds(trueHistory({ dialogs, events: events.slice(0, -1), wakes: wakes.slice(0, -1) }))).toEqual([]);
  });

  test("the end of a process that wakes nobody; one that is told as often as somebody asks is told", () => {
    expect(kinds(trueHistory({ wakes: base.wakes.slice(0, 1) }))).toEqual(["missed-wake"]);
    expect(
      kinds(trueHistory({ wakes: [...base.wakes, wake(7, 31_000, "exited"), wake(8, 32_000, "exited")] })),
    ).toEqual([]);
  });

  test("told as exited while its next process lives", () => {
    const births = [...base.births, { incarnation: 2, at: T0 + 35_000 }];
    const wakes = [...base.wakes, wake(8, 36_000, "exited")];
    expect(kinds(trueHistory({ births, wakes }))).toEqual([]);
    expect(kinds(trueHistory({ births, wakes: [...base.wakes, wake(8, 45_000, "exited")] }))).toEqual(["wrong-reason"]);
  });

  test("a verdict that is corrected counts as corrected", () => {
    const told = base.events.map((one) =>
      one.seq === 5 ? { ...one, type: "turn-interrupted", data: { turn: 1 } } : one,
    );
    const wakes = [wake(5, 11_060, "turn-interrupted"), ...base.wakes.slice(1)];
    expect(kinds(trueHistory({ events: told, wakes }))).toEqual(["wrong-reason"]);
    const corrected = [...told, event(9, 12_000, "turn-corrected", { turn: 1, verdict: "completed" })];
    expect(kinds(trueHistory({ events: corrected, wakes }))).toEqual([]);
  });

  test("two questions, one soon after the other, are one wake each", () => {
    const second = { ...question, askedAt: T0 + 25_300, settledAt: T0 + 28_000 };
    const told = [asks(9, 12_100), asks(10, 25_200)];
    const more = {
      events: [...base.events, ...told.map((one) => one.event)],
      wakes: [...base.wakes, ...told.map((one) => one.wake)],
    };
    expect(kinds(trueHistory({ ...more, questions: [question, second] }))).toEqual([]);
  });

  test("a reply that is not shown when its turn is told complete", () => {
    expect(
      kinds(trueHistory({ wakes: [wake(5, 11_060, "turn-completed", "nothing yet"), ...base.wakes.slice(1)] })),
    ).toEqual(["reply-missing"]);
    const behind = { ...wake(5, 11_060, "turn-completed", "nothing yet"), isBehind: true };
    expect(kinds(trueHistory({ wakes: [behind, ...base.wakes.slice(1)] }))).toEqual([]);
    const lost = {
      wakes: [wake(5, 11_060, "turn-completed", ""), ...base.wakes.slice(1)],
      transcriptDeletedAt: T0 + 5_000,
    };
    expect(kinds(trueHistory(lost))).toEqual([]);
    const followed = (prompt: string): readonly string[] =>
      kinds(
        trueHistory({
          turns: [...base.turns, turn(11_100, 11_200, { prompt, isOptional: true })],
          wakes: [wake(5, 11_060, "turn-completed", ""), ...base.wakes.slice(1)],
        }),
      );
    expect(followed("short")).toContain("reply-missing");
    expect(followed("long ".repeat(4_000))).not.toContain("reply-missing");
  });

  test("wait without a cursor: not woken, woken too early, or with another end", () => {
    const loose = (reason: string, answeredAt: number): readonly string[] =>
      kinds(trueHistory({ looseWaits: [{ askedAt: T0 + 2_000, answeredAt: T0 + answeredAt, reason, tag: "q0n1q" }] }));
    expect(loose("turn-completed", 11_100)).toEqual([]);
    expect(loose("timeout", 40_000)).toEqual(["missed-wake"]);
    expect(loose("turn-completed", 3_000)).toEqual(["wrong-reason"]);
    expect(loose("turn-failed", 11_100)).toEqual(["wrong-reason"]);
  });
});

describe("messages", () => {
  const arrived = (text: string, times = 1) => [{ text, at: T0 + 1_000, times }];

  test.each([
    ["delivered, and never seen", {}, "swallowed"],
    ["no outcome, and never seen", { events: base.events.filter((one) => one.type !== "message-delivered") }, "lost"],
    [
      "refused for no reason",
      { events: base.events.map((one) => (one.seq === 4 ? { ...one, type: "message-refused" } : one)) },
      "wrong-outcome",
    ],
  ])("%s", (_what, more, kind) => {
    expect(kinds(trueHistory({ ...more, arrivals: [] }))).toEqual([kind]);
  });

  test("unknown is honest, whether it arrived or not", () => {
    const events = base.events.map((one) => (one.seq === 4 ? { ...one, type: "message-unknown" } : one));
    expect(kinds(trueHistory({ events, arrivals: [] }))).toEqual([]);
    expect(kinds(trueHistory({ events }))).toEqual([]);
  });

  test("what need not arrive is not missed", () => {
    expect(kinds(trueHistory({ arrivals: [], sent: [sent({ mayBeMissing: true })] }))).toEqual([]);
    expect(kinds(trueHistory({ arrivals: [], sent: [sent({ isAcknowledged: false, messageId: null })] }))).toEqual([]);
  });

  test("twice, with other text, or refused and yet there", () => {
    expect(kinds(trueHistory({ arrivals: arrived("[[say hello]] q0n1q", 2) }))).toEqual(["doubled"]);
    expect(kinds(trueHistory({ arrivals: arrived("a draft[[say hello]] q0n1q") }))).toEqual(["fused"]);
    expect(kinds(trueHistory({ arrivals: arrived("hello]] q0n1q") }))).toEqual(["fused"]);
    const events = base.events.map((one) => (one.seq === 4 ? { ...one, type: "message-refused" } : one));
    expect(kinds(trueHistory({ events }))).toEqual(["wrong-outcome"]);
    const untold = base.events.filter((one) => one.seq !== 4);
    expect(kinds(trueHistory({ events: untold }))).toEqual(["wrong-outcome"]);
  });

  test("what old frames hide: behind another message, behind itself, or behind a draft", () => {
    const second = sent({ tag: "q0n2q", text: "two q0n2q", messageId: "m2" });
    const told = event(21, 800, "message-delivered", { message_id: "m2" });
    const together = (text: string): readonly string[] =>
      kinds(trueHistory({ sent: [sent({}), second], events: [...base.events, told], arrivals: arrived(text) }));
    expect(together("[[say hello]] q0n1q two q0n2q")).toEqual(["fused"]);
    expect(together("[[say hello]] q0n1q")).toEqual(["swallowed"]);
    expect(kinds(trueHistory({ arrivals: arrived("[[say hello]] q0n1q[[say hello]] q0n1q") }))).toEqual(["fused"]);
  });

  test("a draft that is gone, and one that is sent although nobody pressed Enter", () => {
    const draft = { tag: "q0n2q", from: T0 + 12_000, to: T0 + 20_000, missingAt: null };
    expect(kinds(trueHistory({ drafts: [draft] }))).toEqual([]);
    expect(kinds(trueHistory({ drafts: [{ ...draft, missingAt: T0 + 15_000 }] }))).toEqual(["lost"]);
    const taken = [...base.arrivals, { text: "a draft q0n2q", at: T0 + 15_000, times: 1 }];
    expect(kinds(trueHistory({ drafts: [draft], arrivals: taken }))).toEqual(["fused"]);
    const person = sent({ tag: "q0n2q", text: "a draft q0n2q", how: "person", messageId: null });
    expect(kinds(trueHistory({ drafts: [draft], sent: [...base.sent, person], arrivals: taken }))).toEqual([]);
    expect(kinds(trueHistory({ drafts: [draft], sent: [...base.sent, person] }))).toEqual(["lost"]);
  });

  test("blanks, tabs and a zero-width space in front are how agents take a text", () => {
    expect(kinds(trueHistory({ arrivals: arrived("\u200b[[say  hello]]\tq0n1q ") }))).toEqual([]);
  });

  test("a text that nobody sent", () => {
    const stray = [...base.arrivals, { text: "1", at: T0 + 20_000, times: 1 }];
    expect(kinds(trueHistory({ arrivals: stray }))).toEqual(["fused"]);
    const own = [...base.arrivals, { text: "<task-notification>done", at: T0 + 20_000, times: 1 }];
    expect(kinds(trueHistory({ arrivals: own }))).toEqual([]);
  });

  test("in another order than they were given", () => {
    const second = sent({ tag: "q0n2q", text: "two q0n2q", messageId: "m2" });
    const events = [
      ...base.events,
      event(20, 700, "message-admitted", { message_id: "m2" }),
      event(21, 800, "message-delivered", { message_id: "m2" }),
    ];
    const history = (at: number) =>
      trueHistory({
        sent: [sent({}), second],
        events,
        arrivals: [...base.arrivals, { text: "two q0n2q", at: T0 + at, times: 1 }],
      });
    expect(kinds(history(900))).toEqual(["reordered"]);
    expect(kinds(history(12_000))).toEqual([]);
  });
});

describe("ends and transcripts", () => {
  test("told as ended while its process is there", () => {
    expect(
      kinds(trueHistory({ samples: [sample(6_000, { liveness: "absent", activity: "unknown", isAlive: true })] })),
    ).toEqual(["false-ended"]);
    const early = base.events.map((one) => (one.seq === 7 ? { ...one, at: T0 + 20_000 } : one));
    expect(kinds(trueHistory({ events: early }))).toEqual(["false-ended"]);
    expect(kinds(trueHistory({ deaths: [] }))).toEqual(["false-ended", "wrong-reason"]);
  });

  test("unreachable is not ended, and a process that has not been started is not dead", () => {
    const rows = [
      sample(6_000, { liveness: "unreachable", activity: "unknown", isAlive: true }),
      sample(7_000, { state: "starting", liveness: "absent", activity: "starting", isAlive: true }),
    ];
    expect(kinds(trueHistory({ samples: rows }))).toEqual([]);
  });

  test("an end that is never told, late, or twice", () => {
    expect(kinds(trueHistory(without(7)))).toEqual(["missed-wake"]);
    const late = base.events.map((one) => (one.seq === 7 ? { ...one, at: T0 + 45_000 } : one));
    expect(kinds(trueHistory({ events: late }))).toEqual(["missed-wake"]);
    const twice = [...base.events, event(9, 30_070, "session-exited", { incarnation: 1 })];
    expect(kinds(trueHistory({ events: twice }))).toEqual(["doubled-wake"]);
  });

  test("called lost while it is there, for longer than a moment", () => {
    const rows = [12_000, 14_000, 16_000].map((at) => sample(at, { observability: "lost", hasTranscript: true }));
    expect(kinds(trueHistory({ samples: rows }))).toEqual(["false-lost"]);
    expect(kinds(trueHistory({ samples: rows.slice(0, 2) }))).toEqual([]);
    const gone = rows.map((row) => ({ ...row, hasTranscript: false }));
    expect(kinds(trueHistory({ samples: gone }))).toEqual([]);
  });
});

test("of what lost its environment, as it is told, only what is left behind is judged", () => {
  expect(kinds(trueHistory({ arrivals: [], isEnvironmentLost: true }))).toEqual([]);
  expect(kinds(trueHistory({ leftBehind: ["process 7"], isEnvironmentLost: true }))).toEqual(["left-behind"]);
});

test("what is left behind, failed, stuck or seen by an episode is a finding", () => {
  const history = trueHistory({
    leftBehind: ["process 7"],
    failedCommands: [{ at: T0, words: "reeve list", status: 69, output: "no" }],
    stuck: "turn: it never ended",
    seen: [{ kind: "lost", text: "a draft", at: T0 }],
  });
  expect(kinds(history)).toEqual(["lost", "command-failed", "left-behind", "stuck"]);
});
