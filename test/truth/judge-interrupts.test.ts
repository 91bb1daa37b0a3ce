/** An interrupt that stopped too much, too little, or came too late is caught; one that did what it was asked for is not. */
import { expect, test } from "vitest";
import type { History } from "./history.ts";
import { event, sent, T0, trueHistory, turn, wake } from "./history-fixture.ts";
import { judge } from "./judge.ts";

const kinds = (history: History): readonly string[] => judge(history).map(({ kind }) => kind);
const base = trueHistory();

const interrupt = {
  at: T0 + 5_000,
  answeredAt: T0 + 5_300,
  turn: "q0n1q",
  isUnderWay: true,
  tag: "q0n3q",
  waiting: ["q0n2q"],
};
const stopped = turn(1_000, 6_000, { verdict: "interrupted" });
const ahead = turn(6_500, 7_000, { prompt: "ahead q0n3q", says: null });
const waited = turn(7_500, 8_000, { prompt: "waited q0n2q", says: null });
const reasons = { completed: "turn-completed", interrupted: "turn-interrupted", failed: "turn-failed" };
/** Everything is told as it happened: what is wrong is what happened. */
function history(turns: readonly ReturnType<typeof turn>[], more: Partial<History> = {}): History {
  const [first, second] = [sent({ tag: "q0n2q", text: waited.prompt, messageId: "m2" }), sent({})];
  const third = sent({ tag: "q0n3q", text: ahead.prompt, messageId: "m3", how: "interrupt", at: T0 + 5_000 });
  const ends = turns.flatMap(({ endedAt, verdict }, index) =>
    endedAt === null || verdict === "open" || verdict === "died"
      ? []
      : [event(20 + index, endedAt - T0, reasons[verdict])],
  );
  const outcomes = ["m2", "m3"].map((id, index) => event(30 + index, 9_000, "message-delivered", { message_id: id }));
  return trueHistory({
    turns,
    interrupts: [interrupt],
    sent: [second, first, third],
    arrivals: turns.map(({ prompt, startedAt }) => ({ text: prompt, at: startedAt, times: 1 })),
    events: [...base.events.filter(({ seq }) => seq !== 5 && seq !== 6), ...ends, ...outcomes],
    wakes: [...base.wakes.slice(1), ...ends.map(({ seq, at, type }) => wake(seq, at - T0 + 10, type))],
    samples: [],
    ...more,
  });
}

test("the turn under way is stopped, the message goes ahead, what waited is done", () => {
  expect(kinds(history([stopped, ahead, waited]))).toEqual([]);
  expect(kinds(history([turn(1_000, null), ahead, waited]))).toContain("wrong-turn");
  expect(kinds(history([turn(1_000, 6_000), ahead, waited]))).toEqual(["wrong-turn"]);
  const died = turn(1_000, 6_000, { verdict: "died" });
  expect(kinds(history([died, ahead, waited]))).toEqual([]);
});

test("it never stops the turn of what waited, of a draft, or its own", () => {
  const cut = (one: ReturnType<typeof turn>, verdict: "failed" | "interrupted") => ({
    ...one,
    verdict,
    allowed: [verdict],
  });
  for (const verdict of ["failed", "interrupted"] as const) {
    expect(kinds(history([stopped, ahead, cut(waited, verdict)]))).toEqual(["wrong-turn"]);
    expect(kinds(history([stopped, cut(ahead, verdict), waited]))).toEqual(["wrong-turn"]);
  }
  const behindDraft = { ...interrupt, turn: null, isUnderWay: false };
  const sentLater = [turn(1_000, 6_000), ahead, cut(waited, "interrupted")];
  expect(kinds(history(sentLater, { interrupts: [behindDraft] }))).toEqual(["wrong-turn"]);
  const about = { ...interrupt, at: T0 + 7_600, turn: "q0n2q", tag: null, waiting: [] };
  expect(kinds(history([stopped, ahead, cut(waited, "interrupted")], { interrupts: [interrupt, about] }))).toEqual([]);
});

test("one about no turn, or about one that ends by itself, need not stop it", () => {
  const none = { ...interrupt, turn: null, isUnderWay: false };
  expect(kinds(history([turn(1_000, 6_000), ahead, waited], { interrupts: [none] }))).toEqual([]);
  const mayEnd = { ...interrupt, isUnderWay: false };
  expect(kinds(history([turn(1_000, 6_000), ahead, waited], { interrupts: [mayEnd] }))).toEqual([]);
});

test("what waited does not arrive before it, unless nobody could answer", () => {
  const late = turn(8_500, 9_000, { prompt: "ahead q0n3q", says: null });
  expect(kinds(history([stopped, waited, late]))).toEqual(["reordered"]);
  const disturbances = [{ from: T0 + 5_100, to: T0 + 9_000, what: "daemon stopped" }];
  expect(kinds(history([stopped, waited, late], { disturbances }))).toEqual(["reordered"]);
  const mayEnd = { ...interrupt, isUnderWay: false };
  expect(kinds(history([stopped, waited, late], { interrupts: [mayEnd], disturbances }))).toEqual([]);
  const alone = { ...interrupt, tag: null };
  expect(kinds(history([stopped, waited, late], { interrupts: [alone] }))).toEqual([]);
});

test("a turn that was stopped before the agent asked the model is in the conversation, and in no request", () => {
  const begun = sent({ how: "start", tag: "q0n0q", text: "first q0n0q", messageId: null });
  const told = event(19, 900, "turn-interrupted");
  const early = { ...interrupt, at: T0 + 800, answeredAt: T0 + 900, isUnderWay: false };
  const usual = history([turn(1_000, 6_000), ahead, waited], { interrupts: [early] });
  const heard: History = {
    ...usual,
    sent: [begun, ...usual.sent],
    events: [...usual.events, told].toSorted((one, other) => one.seq - other.seq),
    wakes: [wake(19, 910, "turn-interrupted"), ...usual.wakes],
  };
  const arrival = { text: "first q0n0q", at: T0 + 850, times: 1 };
  expect(kinds({ ...heard, arrivals: [arrival, ...heard.arrivals] })).toEqual([]);
  expect(kinds({ ...heard, sent: usual.sent })).toEqual(["doubled-wake"]);
});
