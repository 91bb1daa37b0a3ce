/** The truth is made from the model's own record, without Reeve. */
import { describe, expect, test } from "vitest";
import type { Outcome, RecordedRequest } from "../scripted-model/record.ts";
import { typedIn } from "./agent-files.ts";
import type { TurnRules } from "./ground-truth.ts";
import { arrivalsOf, practiceArrivals, practiceTurns, turnsOf } from "./ground-truth.ts";

const none: TurnRules = { retriesForever: false, deeds: [], steered: new Set() };
const call = { id: "c", name: "Bash", input: { command: "touch x" } };

function request(
  prompt: string,
  at: number,
  outcome: Outcome | undefined,
  more: Partial<RecordedRequest> = {},
): RecordedRequest {
  return {
    at,
    api: "messages",
    path: "/v1/messages",
    prefix: "/s/0",
    model: "m",
    hidden: false,
    prompt,
    messages: [],
    typed: [prompt],
    offered: [],
    results: [],
    says: outcome === "answered" ? "said" : "",
    calls: [],
    ...(outcome === undefined ? {} : { outcome }),
    ...(outcome === undefined || outcome === "hung" ? {} : { finishedAt: at + 100 }),
    ...more,
  };
}

const verdicts = (requests: readonly RecordedRequest[], rules: Partial<TurnRules> = {}) =>
  turnsOf(requests, { ...none, ...rules }).map(({ verdict, startedAt, endedAt }) => [verdict, startedAt, endedAt]);

describe("turns", () => {
  test("answered, with a tool in between, is one turn", () => {
    const requests = [
      request("q0n1q", 0, "answered", { calls: [call], says: "" }),
      request("q0n1q", 5_000, "answered"),
    ];
    expect(verdicts(requests)).toEqual([["completed", 0, 5_100]]);
    expect(verdicts(requests.slice(0, 1))).toEqual([["open", 0, null]]);
  });

  test("errors that are tried again are one turn, which failed; or goes on where the agent never gives up", () => {
    const requests = [request("q0n1q", 0, "failed"), request("q0n1q", 2_000, "disconnected")];
    expect(verdicts(requests)).toEqual([["failed", 0, 2_100]]);
    expect(verdicts(requests, { retriesForever: true })).toEqual([["open", 0, null]]);
    const cutOff = [request("[[say once]] [[disconnect midway]] q0n1q", 0, "disconnected")];
    expect(verdicts(cutOff, { retriesForever: true })).toEqual([["failed", 0, 100]]);
  });

  test("what Reeve was asked to stop is interrupted, however long that takes; what is cut beside it is not", () => {
    const requests = [request("q0n1q", 0, "aborted", { finishedAt: 9_000 }), request("q0n2q", 9_500, "aborted")];
    expect(verdicts(requests, { deeds: [{ what: "stop", at: 100, turn: "q0n1q" }] })).toEqual([
      ["interrupted", 0, 9_000],
      ["failed", 9_500, 9_600],
    ]);
    expect(verdicts(requests, { deeds: [{ what: "stop", at: 100 }] })).toEqual([
      ["failed", 0, 9_000],
      ["failed", 9_500, 9_600],
    ]);
  });

  test("cut by the agent itself, to ask again with what was put into the turn: its end need not be told", () => {
    const requests = [request("q0n1q", 0, "aborted", { finishedAt: 900 }), request("q0n2q", 950, "answered")];
    const optional = (steered: string): readonly boolean[] =>
      turnsOf(requests, { ...none, steered: new Set([steered]) }).map(({ isOptional }) => isOptional);
    expect(optional("q0n2q")).toEqual([true, false]);
    expect(optional("q0n1q")).toEqual([false, false]);
  });

  test("cut by Esc, by death, or under way", () => {
    const cut = [request("q0n1q", 0, "aborted", { finishedAt: 9_000 })];
    expect(verdicts(cut, { deeds: [{ what: "stop", at: 8_900 }] })).toEqual([["interrupted", 0, 9_000]]);
    expect(verdicts(cut, { deeds: [{ what: "death", at: 8_900 }] })).toEqual([["died", 0, 9_000]]);
    expect(verdicts([request("q0n1q", 0, undefined)])).toEqual([["open", 0, null]]);
    expect(verdicts([request("q0n1q", 0, "hung")])).toEqual([["open", 0, null]]);
  });

  test("an Esc right after the model was gone: the agent may tell of either", () => {
    const cut = [request("q0n1q", 0, "disconnected", { finishedAt: 2_000 })];
    const allowed = (deeds: TurnRules["deeds"]) => turnsOf(cut, { ...none, deeds }).map((turn) => turn.allowed);
    expect(allowed([{ what: "stop", at: 2_100, turn: "q0n2q" }])).toEqual([["failed", "interrupted"]]);
    expect(allowed([{ what: "stop", at: 9_000, turn: "q0n2q" }])).toEqual([["failed"]]);
  });

  test("an answer that comes while the turn is to be stopped: the agent may tell of either", () => {
    const answered = [request("q0n1q", 0, "answered", { finishedAt: 2_000 })];
    const allowed = (deeds: TurnRules["deeds"]) => turnsOf(answered, { ...none, deeds }).map((turn) => turn.allowed);
    expect(allowed([{ what: "stop", at: 1_900, turn: "q0n1q" }])).toEqual([["completed", "interrupted"]]);
    expect(allowed([{ what: "stop", at: 1_900, turn: "q0n2q" }])).toEqual([["completed"]]);
  });

  test("an answer to a question that was refused is an interruption", () => {
    const asked = [request("q0n1q", 0, "answered", { calls: [call] })];
    expect(verdicts(asked, { deeds: [{ what: "stop", at: 4_000 }] })).toEqual([["interrupted", 0, 4_000]]);
  });

  test("what was answered right before the process died may be told or not, in any way", () => {
    const [turn] = turnsOf([request("q0n1q", 0, "answered")], { ...none, deeds: [{ what: "death", at: 600 }] });
    expect(turn).toMatchObject({ isOptional: true, allowed: ["completed", "failed", "interrupted"] });
  });

  test("the same prompt once more is another turn, and a message that arrived twice", () => {
    const requests = [request("q0n1q", 0, "aborted"), request("q0n1q", 5_000, "answered")];
    const turns = turnsOf(requests, { ...none, deeds: [{ what: "stop", at: 90 }] });
    expect(turns.map(({ verdict }) => verdict)).toEqual(["interrupted", "completed"]);
    expect(arrivalsOf(requests, turns)).toEqual([{ text: "q0n1q", at: 0, times: 2 }]);
  });

  test("a subagent's work belongs to the turn that began it; what Claude Code asks by itself may join it", () => {
    const agent = { id: "c", name: "Agent", input: { prompt: "[[delay 9s]] b0n1b" } };
    const requests = [
      request("[[agent [[delay 9s]] b0n1b]] q0n1q", 0, "answered", { calls: [agent], says: "" }),
      request("[[delay 9s]] b0n1b", 200, "answered", { finishedAt: 9_200 }),
      request("[[agent [[delay 9s]] b0n1b]] q0n1q", 300, "answered"),
      request("[[agent [[delay 9s]] b0n1b]] q0n1q", 9_500, "answered", {
        messages: [{ role: "user", text: "<system-reminder>\n[SYSTEM NOTIFICATION - NOT USER INPUT]" }],
      }),
    ];
    const turns = turnsOf(requests, none);
    expect(turns).toMatchObject([
      { verdict: "completed", startedAt: 0, endedAt: 9_200, mayJoin: false },
      { verdict: "completed", startedAt: 9_500, mayJoin: true, says: null },
    ]);
    expect(arrivalsOf(requests, turns).map(({ times }) => times)).toEqual([1]);
  });

  test("a background command is work until it is over", () => {
    const background = { id: "c", name: "Bash", input: { command: "sleep 9", run_in_background: true } };
    const requests = [
      request("q0n1q", 0, "answered", { calls: [background], says: "" }),
      request("q0n1q", 300, "answered"),
    ];
    expect(verdicts(requests)).toEqual([["completed", 0, 9_100]]);
    expect(verdicts(requests, { deeds: [{ what: "death", at: 4_000 }] })).toEqual([["completed", 0, 4_000]]);
  });
});

test("a text that stands twice in one conversation arrived twice", () => {
  const [arrival] = arrivalsOf([request("q0n2q", 0, "answered", { typed: ["q0n1q", "q0n1q", "q0n2q"] })], []);
  expect(arrival).toEqual({ text: "q0n1q", at: 0, times: 2 });
});

test("the practice agent's own file", () => {
  const at = (seconds: number): string => new Date(seconds * 1_000).toISOString();
  const lines = [
    { type: "turn_started", turn: 1, at: at(1) },
    { type: "user", turn: 1, at: at(1), text: "tell q0n1q" },
    { type: "assistant", turn: 1, at: at(2), text: "told" },
    { type: "turn_completed", turn: 1, at: at(2) },
    { type: "turn_started", turn: 2, at: at(3) },
    { type: "user", turn: 2, at: at(3), text: "tell q0n1q" },
  ];
  const file = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n{"torn`;
  expect(practiceTurns(file, none)).toMatchObject([
    { verdict: "completed", startedAt: 1_000, endedAt: 2_000, says: "told" },
    { verdict: "open", endedAt: null },
  ]);
  expect(practiceTurns(file, { ...none, deeds: [{ what: "death", at: 9_000 }] })).toMatchObject([
    {},
    { verdict: "died" },
  ]);
  // A process that is gone began nothing: the turn is of the next one.
  expect(practiceTurns(file, { ...none, deeds: [{ what: "death", at: 2_990 }] })).toMatchObject([
    {},
    { verdict: "open", endedAt: null },
  ]);
  expect(practiceArrivals(file)).toEqual([{ text: "tell q0n1q", at: 1_000, times: 2 }]);
});

test.each([
  ["claude", '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hello"}]}}'],
  ["claude, one text", '{"type":"user","message":{"role":"user","content":"hello"}}'],
  [
    "codex",
    '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}',
  ],
  ["gemini", '{"type":"user","content":[{"text":"hello"}]}'],
])("what the person said, in a line of %s's", (_agent, line) => {
  expect(typedIn(line)).toEqual(["hello"]);
  expect(typedIn(line.replaceAll('"user"', '"assistant"'))).toEqual([]);
  expect(typedIn(line.slice(0, -1))).toEqual([]);
});
