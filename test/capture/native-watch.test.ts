/** What an agent captures itself becomes lines of the log, once, without secrets, and is removed. */
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readRawLog } from "../support/raw-log.ts";
import { claudeNative } from "../../src/agent/claude/native-capture.ts";
import { codexNative } from "../../src/agent/codex/native-capture.ts";
import type { NativeReader } from "../../src/agent/native-capture.ts";
import { createNativeWatch } from "../../src/supervisor/attention/native-watch.ts";
import { agentWith, type Ground, makeGround, SECRET } from "../../src/supervisor/attention/watch-fixture.ts";
import type { Watcher } from "../../src/supervisor/attention/watcher.ts";

let ground: Ground;
let reader: NativeReader;
let secrets: readonly string[] | null;
let native: string;
let debugLog: string | null;
beforeEach(async () => {
  secrets = [SECRET];
  debugLog = null;
  const watch = { mode: "", text: "", version: null, socket: null, statusDir: null };
  const agent = agentWith({});
  ground = await makeGround(agent, {
    watch: { ...watch, capture: { switchedOff: [], upstreams: {} } },
  });
  native = join(ground.session().identity.outputsDir, "native");
});
afterEach(() => ground.dispose());

function follow(): Watcher {
  const watcher = createNativeWatch({
    ...ground.parts,
    agent: () => agentWith({ native: reader }),
    secrets: async () => secrets,
    tagKey: () => "key",
    onKept: () => undefined,
  });
  watcher.attend(session());
  return watcher;
}

function session() {
  const now = ground.session();
  const launch = { ...now.identity.launch, persistence: { capture: "native", debugLog } as const };
  return { ...now, identity: { ...now.identity, launch } };
}

const lines = () => (existsSync(join(native, "..", "session_oai_raw.log")) ? readRawLog(join(native, "..")) : []);
const kinds = () => lines().map(({ exchange, kind }) => `${exchange} ${kind}`);
const WHOLE = ["r1 request", "r1 response-head", "r1 chunk", "r1 end"];

function put(name: string, content: object | string): void {
  mkdirSync(join(native, name, ".."), { recursive: true });
  writeFileSync(join(native, name), typeof content === "string" ? content : JSON.stringify(content));
}

function answered(id: string): void {
  put(`a${id}.response.json`, { content: `said ${SECRET}`, usage: { output_tokens: 1 } });
  const entry = { request_file: `r${id}.request.json`, response_file: `a${id}.response.json`, model: "m" };
  appendFileSync(join(native, "index.jsonl"), `${JSON.stringify(entry)}\n`);
}

test("bodies that an index names: told in order, without secrets, and removed", async () => {
  reader = claudeNative;
  const watcher = follow();
  put("r1.request.json", `{"prompt":"${SECRET}"`);
  await eventually("it is being written", () => existsSync(native));
  put("r1.request.json", { prompt: SECRET });
  await eventually("the request is told", () => kinds().length === 1);
  answered("1");
  await eventually("the answer is told", () => kinds().length === 4);
  expect(kinds()).toEqual(WHOLE);
  await eventually("what was told is removed", () => readdirSync(native).join() === "index.jsonl");
  expect(readFileSync(join(native, "..", "session_oai_raw.log"), "utf8")).not.toContain(SECRET);
  expect(lines()[0]?.body).toMatch(/^\{"prompt":"\[redacted [0-9a-f]{6}\]"\}$/);
  expect(lines().map(({ seq, captured }) => [seq, captured])).toEqual([1, 2, 3, 4].map((seq) => [seq, "native"]));
  await watcher.leave(session());
  expect(existsSync(native)).toBe(false);
});

test("a daemon that died before it removed what it wrote: nothing is told twice", async () => {
  reader = claudeNative;
  put("r1.request.json", { prompt: "p" });
  answered("1");
  cpSync(native, `${native}-before`, { recursive: true });
  const first = follow();
  await eventually("it is told", () => kinds().length === 4);
  await first.close();
  cpSync(`${native}-before`, native, { recursive: true });
  put("r2.request.json", { prompt: "q" });
  answered("2");
  const second = follow();
  await eventually("the next is told", () => kinds().length >= 8);
  await second.leave(session());
  expect(kinds()).toEqual([...WHOLE, ...WHOLE.map((line) => line.replace("r1", "r2"))]);
});

test("an index that quotes is blanked as it is read, while its agent appends to it", async () => {
  reader = codexNative;
  const index = join(native, "trace-a", "trace.jsonl");
  const say = (payload: object): void =>
    appendFileSync(index, `${JSON.stringify({ wall_time_unix_ms: 7, payload })}\n`);
  put("trace-a/trace.jsonl", "");
  const watcher = follow();
  put("trace-a/payloads/1.json", { prompt: SECRET });
  say({ type: "inference_started", inference_call_id: "c", request_payload: { path: "payloads/1.json" } });
  say({ type: "tool_call_started", summary: `echo ${SECRET}`, invocation_payload: { path: "payloads/2.json" } });
  await eventually(
    "the request is told and the index blank",
    () => kinds().length === 1 && !readFileSync(index, "utf8").includes("echo"),
  );
  put("trace-a/payloads/3.json", { token_usage: { output_tokens: 2 } });
  say({ type: "inference_completed", inference_call_id: "c", response_payload: { path: "payloads/3.json" } });
  await eventually("the answer is told", () => kinds().length === 4);
  await eventually("it is blank", () => readFileSync(index, "utf8").trim() === "");
  expect(readdirSync(join(native, "trace-a", "payloads"))).toEqual([]);
  expect(lines().map(({ kind }) => kind)).toEqual(["request", "response-head", "chunk", "end"]);
  expect(lines()[0]).toMatchObject({ at: "1970-01-01T00:00:00.007Z", mono_ms: null });
  await watcher.leave(session());
  expect(existsSync(native)).toBe(false);
});

test("while the secrets are not known nothing is written, and nothing is lost", async () => {
  reader = claudeNative;
  secrets = null;
  put("r1.request.json", { prompt: SECRET });
  const watcher = follow();
  await watcher.close();
  expect(kinds()).toEqual([]);
  expect(readdirSync(native)).toEqual(["r1.request.json"]);
  secrets = [SECRET];
  const next = follow();
  await eventually("it is told", () => kinds().length === 1);
  await next.leave(session());
});

test("what came right before the end is told, although its secrets are forgotten then", async () => {
  reader = claudeNative;
  const watcher = follow();
  put("r1.request.json", { prompt: SECRET });
  answered("1");
  const left = watcher.leave(session());
  secrets = null;
  await left;
  expect(kinds()).toEqual(WHOLE);
  expect(existsSync(native)).toBe(false);
});

test("the agent's own log goes where the user wants it, without secrets", async () => {
  reader = claudeNative;
  debugLog = join(native, "..", "debug.log");
  put("debug.log", `one\nkey ${SECRET}\n`);
  const watcher = follow();
  const copy = (): string => (existsSync(debugLog ?? "") ? readFileSync(debugLog ?? "", "utf8") : "");
  await eventually("it is copied", () => copy().split("\n").length === 3);
  appendFileSync(join(native, "debug.log"), "three\n");
  await eventually("what follows is, too", () => copy().endsWith("three\n"));
  expect(copy()).toMatch(/^one\nkey \[redacted [0-9a-f]{6}\]\nthree\n$/);
  await eventually("it is blanked", () => readFileSync(join(native, "debug.log"), "utf8").trim() === "");
  await watcher.leave(session());
});
