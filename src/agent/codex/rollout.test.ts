import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Known } from "../contract.ts";
import { readOpenFiles, searchRollout } from "./open-files.ts";
import { readRolloutLine } from "./rollout-line.ts";
import { readRolloutMessages } from "./rollout-messages.ts";
import { plainLaunch } from "../../session/plain-launch.ts";

const THREAD = "01a1e177-7b81-7043-813a-79e65bffb962";
const TURNS = {
  first: "01a1e177-83f0-7e22-acc1-b92c2e909001",
  second: "01a1e177-9257-7583-8b8c-87a68bc4ba05",
  third: "01a1e177-a828-7393-b717-c612899bc815",
  fourth: "01a1e177-bd17-7543-8204-bd11ff2d3f3d",
} as const;
const KNOWN: Known = {
  nativeId: THREAD,
  transcriptPath: null,
  version: "0.166.0",
  launch: plainLaunch("/", { paths: { HOME: "/home/user" } }),
  activity: "idle",
  turnOpen: false,
  lastVerdict: null,
  approvals: [],
  background: [],
};

const lines = linesOf("0.166.0/rollout-hooks-mode.jsonl");

describe("a rollout of 0.166.0", () => {
  test("each turn says its model and its mode, and a compaction has a line of its own", () => {
    const told = lines.flatMap((line) => readRolloutLine(line, KNOWN)?.setup ?? []);
    expect(told).toHaveLength(4);
    for (const setup of told)
      expect(setup).toEqual({
        model: "gpt-5.2-codex",
        mode: "on-request, workspace-write",
        at: expect.any(Number) as number,
      });
    const line = { timestamp: "2026-11-15T23:08:00.000Z", type: "compacted", payload: { message: "" } };
    expect(readRolloutLine(JSON.stringify(line), KNOWN)).toEqual({
      source: "transcript",
      detail: "compacted line",
      compacted: { at: Date.parse(line.timestamp) },
    });
  });

  test("the summary of a compaction is nobody's answer", () => {
    const content = [{ type: "output_text", text: "a summary" }];
    const compaction = [
      {
        type: "response_item",
        payload: { type: "message", role: "assistant", content },
        metadata: { client_authored: false, compaction_output: true },
      },
      { type: "compacted", payload: { message: "Another language model started …", replacement_history: [] } },
      { type: "event_msg", payload: { type: "item_completed", item: { type: "ContextCompaction", id: "c" } } },
    ];
    const messages = readRolloutMessages(compaction.map((line) => JSON.stringify(line)));
    expect(messages.map(({ role, text }) => [role, text])).toEqual([
      ["system", "a summary"],
      ["system", "The conversation so far was summarised."],
    ]);
  });

  test("every turn begins and ends with its name", () => {
    const turns = lines.map((line) => readRolloutLine(line, KNOWN)?.turn).filter((turn) => turn !== undefined);
    // Each with its time, by which a turn from before the session is known.
    const times = turns.map(({ at }) => at ?? 0);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times[0]).toBe(
      Date.parse(String(JSON.parse(lines.find((line) => line.includes("task_started")) ?? "").timestamp)),
    );
    expect(turns.map(({ at: _at, ...turn }) => turn)).toEqual([
      { phase: "started", id: TURNS.first },
      { phase: "started", id: TURNS.first, prompt: "hello one" },
      { phase: "completed", id: TURNS.first },
      { phase: "started", id: TURNS.second },
      { phase: "started", id: TURNS.second, prompt: "do RUNESC[touch /home/user/zzz5]" },
      { phase: "interrupted", id: TURNS.second },
      { phase: "started", id: TURNS.third },
      { phase: "started", id: TURNS.third, prompt: "and SLOW please" },
      { phase: "interrupted", id: TURNS.third },
      { phase: "started", id: TURNS.fourth },
      { phase: "started", id: TURNS.fourth, prompt: "fail BAD400" },
      { phase: "failed", id: TURNS.fourth, error: "bad request (scripted)", failure: "model-error" },
    ]);
  });

  test("what it all cost is in the last count", () => {
    const usages = lines.map((line) => readRolloutLine(line, KNOWN)?.usage).filter((usage) => usage !== undefined);
    expect(usages.at(-1)).toEqual({
      kind: "total",
      usage: { inputTokens: 200, cachedInputTokens: 40, outputTokens: 20, costUsd: null },
    });
  });

  test("the thread's id is news only once", () => {
    const [meta = ""] = lines;
    expect(readRolloutLine(meta, KNOWN)).toBeNull();
    expect(readRolloutLine(meta, { ...KNOWN, nativeId: null })).toEqual({
      source: "transcript",
      detail: "session_meta line",
      nativeId: THREAD,
    });
  });

  test("as messages: each once, Codex's own context left out", () => {
    const messages = readRolloutMessages(lines).map(({ role, text, tool, turn }) => ({ role, text, tool, turn }));
    const call = { id: "call_14", name: "exec_command", input: expect.stringContaining("touch"), isError: false };
    expect(messages).toEqual([
      { role: "user", text: "hello one", tool: null, turn: TURNS.first },
      { role: "assistant", text: "You said: hello one and that is fine with me now", tool: null, turn: TURNS.first },
      { role: "user", text: "do RUNESC[touch /home/user/zzz5]", tool: null, turn: TURNS.second },
      { role: "assistant", text: "", tool: call, turn: TURNS.second },
      {
        role: "tool",
        text: "Wall time: 2.8 seconds\naborted by user",
        tool: { ...call, input: null },
        turn: TURNS.second,
      },
      { role: "system", text: "The turn was interrupted.", tool: null, turn: TURNS.second },
      { role: "user", text: "and SLOW please", tool: null, turn: TURNS.third },
      { role: "system", text: "The turn was interrupted.", tool: null, turn: TURNS.third },
      { role: "user", text: "fail BAD400", tool: null, turn: TURNS.fourth },
      { role: "system", text: "The turn failed: bad request (scripted)", tool: null, turn: TURNS.fourth },
    ]);
  });
});

describe("files held open", () => {
  const home = "/home/user/.codex";
  const rollout = `${home}/sessions/2026/11/15/rollout-2026-11-15T23-07-46-${THREAD}.jsonl`;
  const lock = `${home}/thread-writer-locks/${THREAD}.lock`;
  const other = `${home}/thread-writer-locks/${TURNS.first}.lock`;
  const unknown = { ...KNOWN, nativeId: null };
  test.each([
    [[lock], unknown, { detail: "its writer lock is open", nativeId: THREAD }],
    [[lock, rollout], unknown, { detail: "its rollout is open", nativeId: THREAD, transcriptPath: rollout }],
    [[lock, other], unknown, null],
    [[lock, other, rollout], KNOWN, { detail: "its rollout is open", nativeId: THREAD, transcriptPath: rollout }],
    [[lock], KNOWN, null],
    [["/etc/passwd", `${home}/thread-writer-locks/x.lock`], unknown, null],
  ])("%j", (paths, known, expected) => {
    expect(readOpenFiles(paths, known)).toEqual(expected === null ? null : { source: "hook", ...expected });
  });

  test("a rollout is looked for below the sessions, by the thread's id", () => {
    expect(searchRollout(KNOWN)).toEqual({ root: `${home}/sessions`, depth: 4, suffix: `-${THREAD}.jsonl` });
    expect(searchRollout(unknown)).toBeNull();
  });
});

test("whatever a line holds, it is read or it is not", () => {
  const type = fc.constantFrom("event_msg", "response_item", "session_meta");
  const kind = fc.constantFrom("task_complete", "item_completed", "token_count", "message", "function_call_output");
  const payload = fc.record({
    type: kind,
    content: fc.anything(),
    item: fc.anything(),
    error: fc.anything(),
    output: fc.anything(),
  });
  const line = fc.oneof(
    fc.string(),
    fc.record({ type, payload: fc.oneof(payload, fc.anything()) }).map((entry) => JSON.stringify(entry)),
  );
  fc.assert(
    fc.property(fc.array(line), (given) => {
      for (const text of given) readRolloutLine(text, KNOWN);
      expect(readRolloutMessages(given).length).toBeLessThanOrEqual(given.length);
    }),
  );
});

function linesOf(name: string): readonly string[] {
  const url = new URL(`../../../test/golden/codex/${name}`, import.meta.url);
  return readFileSync(url, "utf8").trim().split("\n");
}
