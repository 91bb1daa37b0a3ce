/** Decision 70: when a hook reminds and when it does not, with the scripts that agents really run. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeContext, makeLaunch } from "./agent-fixture.ts";
import { claudeAgent } from "./claude/claude-agent.ts";
import { codexAgent } from "./codex/codex-agent.ts";
import type { LaunchContext, LaunchPlan, PlannedFile } from "./contract.ts";
import { geminiAgent } from "./gemini/gemini-agent.ts";
import type { McpServer } from "./mcp-server.ts";
import { REMINDER } from "./reminder.ts";

const mcp: McpServer = { command: ["/reeve", "mcp"], variables: ["REEVE_PASS"], readOnlyTools: ["list_sessions"] };
const codex = codexAgent({ bootstrapPath: "/dist/bootstrap.js", nodePath: "/opt/node" });
const AGENTS = {
  claude: { agent: claudeAgent, settings: {}, begin: ["reminder.sh", "begin"], end: ["reminder.sh", "end"] },
  "codex with hooks": {
    agent: codex,
    settings: { mode: "hooks" },
    begin: ["reminder.sh", "begin"],
    end: ["reminder.sh", "end"],
  },
  "codex with its app-server": {
    agent: codex,
    settings: { mode: "app-server" },
    begin: ["reminder.sh", "begin"],
    end: ["reminder.sh", "end"],
  },
  gemini: { agent: geminiAgent, settings: {}, begin: ["gemini-before.sh"], end: ["gemini-after.sh"] },
} as const;
type Name = keyof typeof AGENTS;
const NAMES = Object.keys(AGENTS) as readonly Name[];

function planOf(name: Name, changes: Partial<LaunchContext> = {}): LaunchPlan {
  const { agent, settings } = AGENTS[name];
  return agent.plan(makeContext({ launch: makeLaunch({ paths: { HOME: "/u" } }), settings, mcp, ...changes }));
}

describe("plans", () => {
  test.each(NAMES)("%s: only the hooks of a turn differ, and it may remember unasked", (name) => {
    const plain = planOf(name);
    const reminded = planOf(name, { reminds: true });
    expect(plain.reminds).toBeUndefined();
    expect(namesOf(plain).filter((file) => /reminder|before/.test(file))).toEqual([]);
    expect(JSON.stringify(plain)).not.toContain("reminder");
    expect(reminded.reminds).toBe(true);
    const [script] = AGENTS[name].begin;
    expect(namesOf(reminded).filter((file) => !namesOf(plain).includes(file))).toEqual([script]);
    if (name === "claude") expect(JSON.stringify(reminded)).toContain("mcp__reeve__add_memory");
    if (name === "gemini") expect(JSON.stringify(reminded)).toContain(String.raw`toolName = \"add_memory\"`);
  });

  test.each(NAMES)("%s: nobody is asked to call a tool that it does not have", (name) => {
    expect(planOf(name, { reminds: true, mcp: null })).toEqual(planOf(name, { mcp: null }));
  });

  test("without hooks there is no reminder", () => {
    const read = (): string => '{"hooksConfig":{"enabled":false}}';
    expect(planOf("gemini", { reminds: true, read }).reminds).toBeUndefined();
    const program = { path: "/opt/codex", version: "0.100.0" };
    expect(planOf("codex with hooks", { reminds: true, program }).reminds).toBeUndefined();
  });

  const namesOf = ({ files }: LaunchPlan): readonly string[] => files.map(({ path }) => path.split("/").at(-1) ?? "");
});

describe.each(NAMES)("the hooks of %s", (name) => {
  const isTold = name !== "codex with its app-server";
  let directory: string;
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), "reeve-reminder-")), "a session");
    mkdirSync(join(directory, "spool"), { recursive: true });
    for (const file of planOf(name, { reminds: true, sessionDir: directory }).files) write(file);
  });
  afterEach(() => rmSync(join(directory, ".."), { recursive: true, force: true }));

  function write({ path, content, isExecutable }: PlannedFile): void {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, content);
    chmodSync(path, isExecutable ? 0o700 : 0o600);
  }

  async function run(when: "begin" | "end", record: object): Promise<unknown> {
    const [script, ...args] = AGENTS[name][when];
    const output = await outputOf(join(directory, script), args, JSON.stringify(record));
    return output === "" ? null : JSON.parse(output);
  }

  const TURN = { claude: { prompt_id: "t-1" }, gemini: {} }[name as string] ?? { turn_id: "t-1" };
  const NEXT = { claude: { prompt_id: "t-2" }, gemini: {} }[name as string] ?? { turn_id: "t-2" };
  const begin = (turn: object = TURN, prompt = "do it"): Promise<unknown> => run("begin", { ...turn, prompt });
  const end = (changes: object = {}): Promise<unknown> =>
    run("end", { ...TURN, stop_hook_active: false, last_assistant_message: "", background_tasks: [], ...changes });
  const remembered = (): void => unlinkSync(join(directory, "reminder-due"));
  const told = (): number => readdirSync(join(directory, "spool")).length;

  const GIVEN = { decision: "block", reason: REMINDER };

  test("a turn in which nothing was remembered is prolonged once, and only its real end is told", async () => {
    expect(await begin()).toBeNull();
    expect(told()).toBe(isTold ? 1 : 0);
    expect(await end({ last_assistant_message: 'it said "stop_hook_active":true' })).toEqual(GIVEN);
    expect(told()).toBe(isTold ? 1 : 0);
    expect(await end()).toBeNull();
    expect(told()).toBe(isTold ? 2 : 0);
    expect(await end()).toBeNull();
    await begin(NEXT);
    expect(await end(NEXT)).toEqual(GIVEN);
  });

  test("not if something was remembered, nor in a turn that a hook prolongs already", async () => {
    await begin();
    remembered();
    expect(await end()).toBeNull();
    await begin(NEXT);
    expect(await end({ ...NEXT, stop_hook_active: true })).toBeNull();
  });

  test.skipIf(name === "gemini")("a second prompt in the same turn changes nothing", async () => {
    await begin();
    remembered();
    await begin(TURN, "and that");
    expect(await end()).toBeNull();
    await begin(NEXT);
    expect(await end(NEXT)).toEqual(GIVEN);
    await begin(NEXT, "and that");
    expect(await end(NEXT)).toBeNull();
  });

  test("two hooks at once give one reminder", async () => {
    await begin();
    const answers = await Promise.all([end(), end(), end(), end()]);
    expect(answers.filter((answer) => answer !== null)).toEqual([GIVEN]);
  });

  test("what stands in the way of its files, or no turn that began, only means no reminder", async () => {
    expect(await end()).toBeNull();
    mkdirSync(join(directory, "reminder-due"));
    expect(await begin()).toBeNull();
    expect(await end()).toBeNull();
    rmSync(join(directory, "reminder-due"), { recursive: true });
    rmSync(join(directory, "spool"), { recursive: true });
    expect(await begin(NEXT)).toBeNull();
    expect(await end(NEXT)).toEqual(GIVEN);
  });

  test("a record of 300 KB", async () => {
    await begin(TURN, "x".repeat(300_000));
    expect(await end({ last_assistant_message: "y".repeat(300_000) })).toEqual(GIVEN);
    expect(existsSync(join(directory, "reminder-due"))).toBe(false);
  });

  test.runIf(name === "claude")("what works in the background goes on with the turn", async () => {
    await begin();
    expect(await end({ background_tasks: [{ id: "b" }] })).toBeNull();
    remembered();
    await begin(NEXT, "<task-notification> <task-id>b</task-id>");
    expect(await end(NEXT)).toBeNull();
    await begin({ prompt_id: "t-3" });
    expect(await end({ background_tasks: [{ id: "b" }] })).toBeNull();
    await begin({ prompt_id: "t-4" }, "<task-notification> <task-id>b</task-id>");
    expect(await end({ prompt_id: "t-4" })).toEqual(GIVEN);
  });

  test.runIf(name === "gemini")("the reminder itself is no turn, and one that was cancelled has none", async () => {
    await begin();
    expect(await end()).toEqual(GIVEN);
    expect(told()).toBe(1);
    await begin(TURN, REMINDER);
    expect(told()).toBe(1);
    expect(await end()).toBeNull();
    await begin();
    const transcript = join(directory, "chat.jsonl");
    writeFileSync(transcript, '{"id":"1","timestamp":"t","type":"info","content":"Request cancelled."}\n');
    expect(await end({ transcript_path: transcript })).toBeNull();
    const last = readdirSync(join(directory, "spool")).toSorted().at(-1) ?? "";
    expect(readFileSync(join(directory, "spool", last), "utf8")).toContain("Request cancelled.");
  });
});

test("it can stand in JSON, in shell and in a pattern", () => {
  expect(REMINDER).toMatch(/^[A-Za-z_:;,. ]+$/);
});

function outputOf(script: string, args: readonly string[], input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(script, args, { cwd: "/", env: { PATH: "/usr/bin:/bin" } });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    child.once("error", reject);
    child.once("close", (status) => (status === 0 ? resolve(output) : reject(new Error(`status ${String(status)}`))));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
