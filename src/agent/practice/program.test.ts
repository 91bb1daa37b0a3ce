/** The practice program as it is used: in a pane of a real tmux. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeKnown } from "../agent-fixture.ts";
import {
  CONVERSATION,
  eventually,
  newDirectory,
  openPane,
  type PaneUnderTest,
  wholeFilesIn,
} from "./pane-under-test.ts";
import type { HookRecord } from "./hook-record.ts";
import { practiceAgent } from "./practice-agent.ts";
import type { TranscriptLine } from "./transcript-line.ts";

const panes: PaneUnderTest[] = [];
afterEach(async () => {
  await Promise.all(panes.splice(0).map((pane) => pane.close()));
});

async function open(args: readonly string[] = [], directory?: string): Promise<PaneUnderTest> {
  const pane = await openPane(args, directory);
  panes.push(pane);
  await pane.waitForHook("session-start");
  return pane;
}

const events = (pane: PaneUnderTest): string[] => pane.hooks().map((record) => `${record.event} ${record.turn}`);
const withoutTime = (line: TranscriptLine | HookRecord): object => ({ ...line, at: undefined });
const titled = (pane: PaneUnderTest, title: string): Promise<true> =>
  eventually(title, () => (pane.title() === title ? true : undefined));

test("a turn: title, transcript and hooks, all readable by the adapter", { timeout: 60_000 }, async () => {
  const pane = await open();
  await titled(pane, "practice: ready");
  expect(existsSync(join(pane.directory, "transcript.jsonl"))).toBe(false);
  pane.submit("sleep 0.4");
  await pane.waitForHook("turn-completed");
  await titled(pane, "practice: ready");

  const conversation = CONVERSATION;
  expect(pane.hooks().map(withoutTime)).toEqual([
    { event: "session-start", conversation, turn: 0 },
    { event: "turn-started", conversation, turn: 1, text: "sleep 0.4" },
    { event: "turn-completed", conversation, turn: 1 },
  ]);
  expect(pane.transcript().map(withoutTime)).toEqual([
    { type: "session", conversation, resumed: false, earlierTurns: 0 },
    { type: "turn_started", turn: 1 },
    { type: "user", turn: 1, text: "sleep 0.4" },
    { type: "assistant", turn: 1, text: "Slept 0.4 s." },
    { type: "turn_completed", turn: 1 },
  ]);
  expect(pane.screen()).toContain("● Slept 0.4 s.");

  const agent = practiceAgent("", "");
  expect(pane.hooks().map((record) => agent.readHook(record, makeKnown())?.activity)).toEqual([
    "idle",
    "working",
    "idle",
  ]);
  const lines = readFileSync(join(pane.directory, "transcript.jsonl"), "utf8").split("\n");
  expect(agent.readMessages(lines)).toMatchObject([
    { role: "user", text: "sleep 0.4", turn: "1" },
    { role: "assistant", text: "Slept 0.4 s.", turn: "1" },
  ]);
  const [name = ""] = wholeFilesIn(join(pane.directory, "spool"));
  expect(name).toMatch(new RegExp(`^\\d{8}T\\d{6}\\.\\d{3}Z-000001-${pane.pid}\\.json$`));
  expect(statSync(join(pane.directory, "spool", name)).mode & 0o777).toBe(0o600);
});

test("an approval answered by a key, by a pasted message, and denied", { timeout: 60_000 }, async () => {
  const pane = await open(["--", "ask ls"]);
  expect(await pane.waitForHook("approval-requested")).toMatchObject({ text: 'Run "ls"?', turn: 1 });
  await titled(pane, "practice: waiting for an answer");
  expect(pane.screen()).toContain('Run "ls"? [y/n]');
  pane.keys("y");
  await pane.waitForHook("turn-completed");

  pane.submit("ask make");
  await pane.waitForHook("approval-requested", 2);
  pane.submit("perhaps");
  pane.submit("yes");
  await pane.waitForHook("turn-completed", 2);

  pane.submit("ask rm");
  await pane.waitForHook("approval-requested", 3);
  pane.keys("n");
  await pane.waitForHook("turn-completed", 3);

  expect(pane.screen()).toContain("Please answer y or n.");
  expect(
    pane
      .hooks()
      .filter(({ event }) => event === "approval-answered")
      .map(({ text }) => text),
  ).toEqual(["yes", "yes", "no"]);
  const told = pane
    .transcript()
    .flatMap((line) => (line.type === "tool" || line.type === "assistant" ? [`${line.type}: ${line.text}`] : []));
  expect(told).toEqual([
    "tool: $ ls",
    'assistant: I ran "ls".',
    "tool: $ make",
    'assistant: I ran "make".',
    'assistant: I did not run "rm".',
  ]);
});

test("a failed turn and an interrupted one, by Esc, by Ctrl-C and at a question", { timeout: 60_000 }, async () => {
  const pane = await open();
  pane.submit("fail out of tokens");
  expect(await pane.waitForHook("turn-failed")).toMatchObject({ text: "out of tokens", turn: 1 });
  for (const [index, [prompt, key]] of [
    ["sleep 60", "Escape"],
    ["sleep 60", "C-c"],
  ].entries()) {
    pane.submit(prompt ?? "");
    await pane.waitForHook("turn-started", 2 + index);
    await titled(pane, "practice: working");
    pane.keys(key ?? "");
    await pane.waitForHook("turn-interrupted", 1 + index);
  }
  pane.submit("ask ls");
  await pane.waitForHook("approval-requested");
  pane.keys("Escape");
  await pane.waitForHook("turn-interrupted", 3);
  const ends = pane.transcript().flatMap((line) => (/failed|interrupted|completed/.test(line.type) ? [line.type] : []));
  expect(ends).toEqual(["turn_failed", "turn_interrupted", "turn_interrupted", "turn_interrupted"]);
});

test("a crash leaves an open turn, no hook, and status 70", { timeout: 60_000 }, async () => {
  const pane = await open(["--", "crash"]);
  expect(await pane.waitForExit()).toBe(70);
  expect(events(pane)).toEqual(["session-start 0", "turn-started 1"]);
  expect(pane.transcript().map(({ type }) => type)).toEqual(["session", "turn_started", "user"]);
});

test.each([
  ["quit", 0, (pane: PaneUnderTest) => pane.submit("quit")],
  ["/quit", 0, (pane: PaneUnderTest) => pane.submit("/quit")],
  ["Ctrl-D", 0, (pane: PaneUnderTest) => pane.keys("C-d")],
  ["Ctrl-C", 0, (pane: PaneUnderTest) => pane.keys("C-c")],
  ["SIGTERM", 143, (pane: PaneUnderTest) => process.kill(pane.pid, "SIGTERM")],
  ["SIGHUP", 129, (pane: PaneUnderTest) => process.kill(pane.pid, "SIGHUP")],
])("%s ends it with status %i", { timeout: 60_000 }, async (_how, status, end) => {
  const pane = await open();
  end(pane);
  expect(await pane.waitForExit()).toBe(status);
  expect(events(pane)).toEqual(["session-start 0", "session-end 0"]);
});

test("a multi-line paste is one prompt; what is typed during a turn is the next", { timeout: 60_000 }, async () => {
  const pane = await open();
  pane.submit("one\ntwo\n\n  three");
  await pane.waitForHook("turn-completed");
  pane.submit("sleep 0.5");
  await pane.waitForHook("turn-started", 2);
  pane.keys("-l", "later");
  pane.keys("BSpace", "Enter");
  await pane.waitForHook("turn-completed", 3);
  const prompts = pane.transcript().flatMap((line) => (line.type === "user" ? [line.text] : []));
  expect(prompts).toEqual(["one\ntwo\n\n  three", "sleep 0.5", "late"]);
});

test("a resumed conversation goes on in the same file, even after a torn line", { timeout: 60_000 }, async () => {
  const directory = newDirectory();
  const line = { type: "turn_started", turn: 2, at: "2026-01-31T23:59:59.123Z" };
  appendFileSync(join(directory, "transcript.jsonl"), `${JSON.stringify(line)}\nnonsense\n{"type":"user","tu`);
  const pane = await open(["--resume"], directory);
  expect(pane.screen()).toContain("Resumed; earlier turns: 2.");
  pane.submit("hello again");
  expect(await pane.waitForHook("turn-completed")).toMatchObject({ turn: 3 });
  const lines = readFileSync(join(directory, "transcript.jsonl"), "utf8").split("\n");
  expect(lines.slice(1, 3)).toEqual(["nonsense", '{"type":"user","tu']);
  expect(JSON.parse(lines[3] ?? "")).toMatchObject({ type: "session", resumed: true, earlierTurns: 2 });
  expect(JSON.parse(lines.at(-2) ?? "")).toMatchObject({ type: "turn_completed", turn: 3 });
});

test("odd input is survived: huge, malformed, full of control characters", { timeout: 60_000 }, async () => {
  const pane = await open();
  const huge = `${"x".repeat(99)}\n`.repeat(20_000);
  pane.submit(huge);
  await pane.waitForHook("turn-completed");
  pane.keys("-H", "ff", "c3", "28", "00", "1f", "1b", "5b", "39", "39", "7e", "0d");
  await pane.waitForHook("turn-completed", 2);
  const colourful = "bell \u0007 colour \u001b[31m tab \t wide 漢字🙂 end";
  pane.submit(colourful);
  await pane.waitForHook("turn-completed", 3);
  pane.submit("spam 500");
  await pane.waitForHook("turn-completed", 4);
  const prompts = pane.transcript().flatMap((line) => (line.type === "user" ? [line.text] : []));
  expect(prompts[0] === huge).toBe(true);
  expect(prompts.slice(1)).toEqual(["\ufffd\ufffd(", colourful, "spam 500"]);
  expect(pane.screen()).toContain("spam 500 of 500");
});

test("a spool that is gone is told, not died of", { timeout: 60_000 }, async () => {
  const pane = await open();
  const spool = join(pane.directory, "spool");
  rmSync(spool, { recursive: true });
  writeFileSync(spool, "in the way");
  pane.submit("hello");
  await eventually("warning", () => (pane.screen().includes("! The hook record cannot be written") ? true : undefined));
  await titled(pane, "practice: ready");
  rmSync(spool);
  mkdirSync(spool);
  pane.submit("hello again");
  expect(await pane.waitForHook("turn-completed")).toMatchObject({ turn: 2 });
});
