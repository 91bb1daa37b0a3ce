import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from "node:fs";
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hookScript } from "../hook-script.ts";
import { NATIVE_ID } from "./known-under-test.ts";
import { sessionScripts } from "./session-scripts.ts";

let dir: string;
let chats: string;
let user: string;
let overlay: string;
let program: string;

beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "reeve-gemini-scripts-")));
  user = join(dir, "it's home", ".gemini");
  overlay = join(dir, "session", "reeve-gemini-home", ".gemini");
  chats = join(user, "tmp", "proj", "chats");
  program = join(dir, "gemini");
  mkdirSync(chats, { recursive: true });
  mkdirSync(join(dir, "session", "spool"), { recursive: true });
  writeScripts("kept");
  write(join(overlay, "settings.json"), "{}");
});

afterEach(() => rmSync(dir, { recursive: true, force: true }));

function writeScripts(empty: "kept" | "removed"): void {
  const { launch, start, after } = sessionScripts(join(dir, "session"), empty);
  for (const { path, content } of [launch, start, after, hookScript(join(dir, "session"))]) write(path, content, 0o700);
}

function write(path: string, content: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
}

/** Runs the launcher with a program that prints its arguments; the status of each run in turn. */
function launch(
  args: readonly string[],
  statuses: readonly number[] = [0],
): { lines: string[]; status: number | null } {
  write(
    program,
    `#!/bin/sh\necho "$*"\nread -r first rest <"${dir}/statuses"\necho "$rest" >"${dir}/statuses"\nexit "$first"\n`,
    0o700,
  );
  writeFileSync(join(dir, "statuses"), `${statuses.join(" ")}\n`);
  const argv = [join(dir, "session", "gemini-launch.sh"), user, overlay, NATIVE_ID, program, ...args];
  const { stdout, status } = spawnSync("/bin/sh", argv, { encoding: "utf8" });
  return { lines: stdout.trimEnd().split("\n"), status };
}

const FIRST = `{"sessionId":"${NATIVE_ID}","projectHash":"0"}\n{"$set":{"messages":[]}}\n`;
const MESSAGE = '{"id":"1","timestamp":"t","type":"user","content":[{"text":"hi"}]}\n';
const file = (minute: string) => join(chats, `session-2026-11-15T23-${minute}-${NATIVE_ID.slice(0, 8)}.jsonl`);

test("everything of the user's is linked, what does not exist yet too, the settings not", () => {
  write(join(user, "settings.json"), '{"their":1}');
  write(join(user, "oauth_creds.json"), "log-in");
  write(join(user, ".env"), "A=1");
  expect(launch(["--session-id", NATIVE_ID], [3])).toEqual({ lines: [`--session-id ${NATIVE_ID}`], status: 3 });
  expect(readFileSync(join(overlay, "oauth_creds.json"), "utf8")).toBe("log-in");
  expect(readFileSync(join(overlay, ".env"), "utf8")).toBe("A=1");
  expect(readFileSync(join(overlay, "settings.json"), "utf8")).toBe("{}");
  expect(realpathSync(join(overlay, "tmp"))).toBe(join(user, "tmp"));
  expect(lstatSync(join(overlay, "google_accounts.json")).isSymbolicLink()).toBe(true);
  writeFileSync(join(overlay, "google_accounts.json"), "new");
  expect(readFileSync(join(user, "google_accounts.json"), "utf8")).toBe("new");
});

const NEXT_ID = NATIVE_ID.replace("fbf73c74", "fbf73c75");

test("an empty conversation of its own is stepped over", () => {
  write(file("01"), FIRST);
  expect(launch(["--session-id", NATIVE_ID, "--prompt-interactive=go"]).lines).toEqual([
    `--session-id ${NEXT_ID} --prompt-interactive=go`,
  ]);
  expect(existsSync(file("01"))).toBe(true);
  expect(spooled()).toEqual([{ reeve: "gemini-conversation", session_id: NEXT_ID }]);
});

test("one that began after it is continued", () => {
  write(file("01"), FIRST);
  const next = FIRST.replace(NATIVE_ID, NEXT_ID) + MESSAGE;
  write(join(chats, "session-2026-11-15T23-02-fbf73c75.jsonl"), next);
  expect(launch(["--session-id", NATIVE_ID, "--prompt-interactive=go"]).lines).toEqual([`--resume ${NEXT_ID}`]);
});

test("an empty conversation of its own is removed where that is wanted, others stay", () => {
  writeScripts("removed");
  write(file("01"), FIRST);
  write(file("02"), FIRST.replace(NATIVE_ID, `${NATIVE_ID.slice(0, 8)}-other`));
  expect(launch(["--session-id", NATIVE_ID]).lines).toEqual([`--session-id ${NATIVE_ID}`]);
  expect(readdirSync(chats).map((name) => name.slice(0, 24))).toEqual(["session-2026-11-15T23-02"]);
});

test("a conversation that has begun is continued, without its first prompt", () => {
  write(file("01"), FIRST + MESSAGE);
  expect(launch(["--session-id", NATIVE_ID, "--yolo", "--prompt-interactive=a  b"]).lines).toEqual([
    `--resume ${NATIVE_ID} --yolo`,
  ]);
});

test("a resumed conversation keeps the prompt that was given with it", () => {
  write(file("01"), FIRST + MESSAGE);
  const args = ["--resume", NATIVE_ID, "--prompt-interactive=go on"];
  expect(launch(args).lines).toEqual([args.join(" ")]);
});

test("to resume a conversation that never began is to begin it", () => {
  expect(launch(["--resume", NATIVE_ID]).lines).toEqual([`--session-id ${NATIVE_ID}`]);
  write(file("01"), FIRST);
  expect(launch(["--resume", NATIVE_ID]).lines).toEqual([`--session-id ${NEXT_ID}`]);
});

const CONTEXT = '{"id":"0","timestamp":"t","type":"user","content":[{"text":"<session_context>\\nToday is Monday."}]}';
const set = (...messages: readonly string[]): string =>
  `{"$set":{"messages":[${messages.join(",")}],"lastUpdated":"t"}}\n`;
const said = (id: string, text: string): string =>
  `{"id":"${id}","timestamp":"t","type":"user","content":[{"text":${JSON.stringify(text)}}]}`;
const answered = (id: string, more: string): string => `{"id":"${id}","timestamp":"t","type":"gemini",${more}}`;
const ERROR = '{"id":"9","timestamp":"t","type":"error","content":"[API Error: x]"}\n';
const CALL = '"content":"","thoughts":[],"toolCalls":[{"id":"c","name":"run_shell_command","status":"success"}]';

/** As 0.61.0 writes them; what of a conversation it resumes is what is left when the log is played to its end. */
test.each<[what: string, log: string, isResumed: boolean]>([
  ["a failed first prompt is dropped", `${set(CONTEXT)}${MESSAGE}${set(CONTEXT)}${ERROR}`, false],
  [
    "a cancelled tool leaves the prompt behind the context",
    `${set(CONTEXT)}${set(CONTEXT.replace('"}]', '"},{"text":"hi"}]'))}`,
    false,
  ],
  ["an answered one stays", `${set(CONTEXT)}${MESSAGE}${answered("2", '"content":"hello","thoughts":[]')}\n`, true],
  [
    "so does a second one that failed",
    `${MESSAGE}${answered("2", '"content":"hello"')}\n${set(CONTEXT, said("1", "hi"), answered("2", '"content":"hello"'))}${ERROR}`,
    true,
  ],
  ["a prompt that is being answered counts", `${set(CONTEXT)}${MESSAGE}`, true],
  ["an answer that is only a call counts", set(CONTEXT, answered("2", CALL)), true],
  [
    "an empty answer does not",
    `${set(CONTEXT)}${answered("2", '"content":"","thoughts":[],"tokens":{"input":1}')}\n`,
    false,
  ],
  ["nor do commands of its own", `${set(CONTEXT)}${said("1", "/help")}\n${said("2", " ?")}\n`, false],
  [
    "what was rewound is gone",
    `${set(CONTEXT)}${MESSAGE}${answered("2", '"content":"hello"')}\n{"$rewindTo":"1"}\n`,
    false,
  ],
  ["what came before that is not", `${MESSAGE}${said("3", "again")}\n{"$rewindTo":"3"}\n`, true],
  [
    "text that quotes such a line is text",
    `${set(CONTEXT)}${said("1", '{"$set":{"messages":[]}} {"$rewindTo":"1"}')}\n`,
    true,
  ],
  [
    "what was sent beside text counts",
    `{"id":"1","timestamp":"t","type":"user","content":[{"inlineData":{"data":"x"}}]}\n`,
    true,
  ],
])("what is resumed: %s", (_what, log, isResumed) => {
  write(file("01"), FIRST + log);
  runHook("gemini-after.sh", { session_id: NATIVE_ID, transcript_path: file("01") });
  const expected = isResumed ? `--resume ${NATIVE_ID}` : `--session-id ${NEXT_ID}`;
  expect(launch(["--resume", NATIVE_ID]).lines).toEqual([expected]);
  expect(launch(["--session-id", NATIVE_ID]).lines).toEqual([expected]);
});

test("one that was begun and is gone is not replaced, one that never held anything is", () => {
  write(file("01"), FIRST + set(CONTEXT) + MESSAGE + set(CONTEXT) + ERROR);
  runHook("gemini-after.sh", { session_id: NATIVE_ID, transcript_path: file("01") });
  rmSync(file("01"));
  expect(launch(["--resume", NATIVE_ID]).lines).toEqual([`--session-id ${NATIVE_ID}`]);
  write(file("01"), FIRST + MESSAGE + answered("2", '"content":"hello"'));
  runHook("gemini-after.sh", { session_id: NATIVE_ID, transcript_path: file("01") });
  rmSync(file("01"));
  expect(launch(["--resume", NATIVE_ID]).lines).toEqual([`--resume ${NATIVE_ID}`]);
});

test("status 199 starts it again, once more with the prompt when nothing has begun", () => {
  const args = ["--session-id", NATIVE_ID, "--prompt-interactive=go"];
  expect(launch(args, [199, 0])).toEqual({ lines: [args.join(" "), args.join(" ")], status: 0 });
});

test.each([
  ["kept", true],
  ["removed", false],
] as const)("the empty file that a resume writes beside the conversation is %s", (empty, isThere) => {
  writeScripts(empty);
  write(file("01"), FIRST + MESSAGE);
  write(file("02"), FIRST);
  const record = {
    session_id: NATIVE_ID,
    transcript_path: file("02"),
    hook_event_name: "SessionStart",
    source: "resume",
  };
  expect(runHook("gemini-start.sh", record)).toEqual([record]);
  expect([existsSync(file("01")), existsSync(file("02"))]).toEqual([true, isThere]);
});

test("notes behind the last message travel with AfterAgent, earlier ones do not", () => {
  const note = (id: string, type: string) => ({ id, timestamp: "t", type, content: 'a "b"\n' });
  const lines = [
    note("1", "error"),
    JSON.parse(MESSAGE) as object,
    note("2", "error"),
    { $set: {} },
    note("3", "info"),
  ];
  write(file("01"), FIRST + lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const hook = { session_id: NATIVE_ID, transcript_path: file("01"), prompt: "%s \\n 'x' \"y\" $HOME", é: "ü" };
  expect(runHook("gemini-after.sh", hook)).toEqual([{ hook, notes: [note("2", "error"), note("3", "info")] }]);
});

test("AfterAgent without a transcript", () => {
  expect(runHook("gemini-after.sh", { session_id: NATIVE_ID })).toEqual([
    { hook: { session_id: NATIVE_ID }, notes: [] },
  ]);
});

function runHook(name: string, record: unknown): readonly unknown[] {
  execFileSync(join(dir, "session", name), { input: JSON.stringify(record) });
  return spooled();
}

function spooled(): readonly unknown[] {
  const spool = join(dir, "session", "spool");
  return readdirSync(spool).map((entry): unknown => JSON.parse(readFileSync(join(spool, entry), "utf8")));
}
