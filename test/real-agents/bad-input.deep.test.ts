/**
 * What makes no sense is refused in a sentence, before anything is recorded;
 * what is merely odd (dashes, quotes, 150 KB) reaches the model byte for byte.
 */
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCommandLine } from "../../src/platform/process-table.ts";
import { createClient } from "../../src/client/create-client.ts";
import type { Result } from "../support/test-home.ts";
import type { AgentCase, Rig, StartOptions } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";
import type { Refusal } from "./session-steps.ts";
import { endNow, happened, refusalOf } from "./session-steps.ts";

interface BadInput {
  readonly agentCase: AgentCase;
  /** The name of the package that the sentence tells to install. */
  readonly npm: string;
  /** What an old one prints for --version. */
  readonly old: string;
  readonly model: string;
  readonly refused: readonly (readonly string[])[];
}

const agents: readonly BadInput[] = [
  {
    agentCase: CASES.claude,
    npm: "@anthropic-ai/claude-code",
    old: "2.0.14 (Claude Code)",
    model: "claude-haiku-4-5",
    refused: [
      ["--resume", "0b7c3f6e-0000-4000-8000-000000000000"],
      ["--resume=x"],
      ["-r"],
      ["--continue"],
      ["-c"],
      ["--session-id", "0b7c3f6e-0000-4000-8000-000000000000"],
      ["--fork-session"],
      ["-p"],
      ["--verbose", "--print"],
      ["--bg"],
      ["--bare"],
      ["--", "text"],
      ["update"],
    ],
  },
  {
    agentCase: CASES.gemini,
    npm: "@google/gemini-cli",
    old: "0.9.0",
    model: "gemini-2.5-flash",
    refused: [
      ["--session-id", "0b7c3f6e-0000-4000-8000-000000000000"],
      ["--resume", "latest"],
      ["-r"],
      ["-p", "text"],
      ["--prompt=text"],
      ["-i", "text"],
      ["--prompt-interactive", "text"],
      ["--yolo", "--acp"],
      ["--output-format", "json"],
      ["--list-sessions"],
      ["--", "text"],
      ["mcp", "list"],
    ],
  },
  {
    agentCase: CASES.codexAppServer,
    npm: "@openai/codex",
    old: "codex-cli 0.39.0",
    model: "scripted-two",
    refused: [
      ["exec", "text"],
      ["resume", "--last"],
      ["review"],
      ["--remote", "unix:///tmp/x.sock"],
      ["--remote=ws://127.0.0.1:1"],
      ["--cd", "/tmp"],
      ["-C/tmp"],
      ["--last"],
      ["--version"],
      ["--model"],
      ["--", "text"],
    ],
  },
  {
    agentCase: CASES.codexHooks,
    npm: "@openai/codex",
    old: "codex-cli 0.57.9",
    model: "scripted-two",
    refused: [["exec", "text"], ["resume"], ["--remote", "unix:///tmp/x.sock"]],
  },
];

describe.each(agents)("$agentCase.title", { timeout: 180_000 }, ({ agentCase, npm, old, model, refused }) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await createRig(agentCase);
    await rig.home.json("daemon", "start");
  });
  afterAll(() => disposeWhole(rig), 60_000);

  test("not installed: what to install, and nothing is recorded", async () => {
    const error = await refusedStart(rig, "hello", { environment: { PATH: pathWith(rig, "without", null) } });
    expect(error.code).toBe("agent-not-installed");
    expect(error.message).toContain(`npm install -g ${npm}`);
  });

  test("too old: what it is, what it must be, and nothing is recorded", async () => {
    const environment = { PATH: pathWith(rig, "old", { name: agentCase.agent, prints: old }) };
    const error = await refusedStart(rig, "hello", { environment });
    expect(error.code).toBe("agent-too-old");
    expect(error.message).toContain(/\d+\.\d+\.\d+/.exec(old)?.[0]);
    expect(error.message).toContain(`npm install -g ${npm}`);
  });

  test("a prompt without a byte", async () => {
    expect(await refusedStart(rig, "")).toMatchObject({
      code: "bad-request",
      message: expect.stringMatching(/^prompt must be some text/),
    });
  });

  test("arguments that Reeve must control are refused in a sentence", async () => {
    const before = await recorded(rig);
    for (const args of refused) {
      const result = await rig.tryStart(null, { args });
      expect(result.status, `${args.join(" ")}: ${result.stdout}`).toBe(2);
      const { code, message } = refusalOf(result);
      expect(code, args.join(" ")).toBe("arguments-unsupported");
      expect(message).toMatch(/^.{20,}\.$/);
    }
    expect(await recorded(rig)).toEqual(before);
  });

  test("odd text arrives byte for byte, as a prompt and as a message; a model that was asked for is used", async () => {
    const file = join(rig.workDir, "substituted");
    const odd = [
      `- it's "quoted" \`touch ${file}\` $(touch ${file}) $HOME \${PATH} !! ; & | > /dev/null \\n \\\\`,
      "",
      "  naïve 漢字 🙂 e\u0301 #{pane_pid} %H %% ~ [0m </system> {{x}}",
      "last 'line' [[say heard]]",
    ].join("\n");
    const { session_id: id } = await rig.start(odd, { options: ["--model", model] });
    expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
    expect(lastWords(rig)).toBe(odd);
    expect(rig.asked().at(-1)?.model).toBe(model);
    const dashed = "--help is what it begins with [[say dashed]]";
    for (const text of [odd, dashed]) {
      const sent = await rig.home.json<{ state: string; cursor: number }>("send", id, text, "--timeout", "30");
      expect(sent.state).toBe("delivered");
      const since = String(sent.cursor);
      expect(await rig.wait(id, "--since", since)).toMatchObject({ reason: "turn-completed" });
      expect(lastWords(rig)).toBe(text);
    }
    expect(existsSync(file)).toBe(false);
    await endNow(rig, id);
  });

  // Gemini CLI 0.61.0 stands still for 8 s while it lays out the last of them, with an idle screen.
  test("no text is run by a shell or completed from a list; one of 40 KB is one turn, which is told once", async () => {
    const asked = rig.asked().length;
    const file = (name: string): string => join(rig.workDir, name);
    writeFileSync(file("wide.txt"), "");
    const first = `!touch ${file("run-by-shell")} [[say one]]`;
    const later = [
      `!touch ${file("run-by-shell")} [[say two]]`,
      `\n  !touch ${file("run-by-shell")} [[say three]]`,
      "[[say four]] ends with a backslash \\",
      // Gemini CLI reads such a file by itself, and adds it.
      ...(agentCase.agent === "gemini" ? [] : ["[[say five]] ends with @wid"]),
      `[[say forty]] ${"0123456789abcde ".repeat(2_560)}end`,
    ];
    const { session_id: id } = await rig.start(first);
    expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
    for (const text of later) {
      const sent = await rig.home.json<{ state: string; cursor: number }>("send", id, text, "--timeout", "30");
      expect(sent.state).toBe("delivered");
      expect(await rig.wait(id, "--since", String(sent.cursor))).toMatchObject({ reason: "turn-completed" });
    }
    const prompts = rig
      .asked()
      .slice(asked)
      .map((request) => visible(request.prompt));
    expect(prompts).toEqual([first, ...later].map(visible));
    expect(existsSync(file("run-by-shell"))).toBe(false);
    await endNow(rig, id);
  });

  test("an approval that is not asked, one that was answered before, a message after the end", async () => {
    // A prompt that begins like an option is no option.
    const dashed = `--help is what it begins with [[shell touch ${join(rig.workDir, "asked")}]] [[say done]]`;
    const { session_id: id } = await rig.start(dashed);
    expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "awaiting-approval" });
    expect(lastWords(rig)).toBe(dashed);
    expect(stale(await rig.home.run(["approve", id, "no-such-id", "--json"]))).toMatch(/approve|ask/i);
    const { approvals } = await rig.home.json<{ approvals: readonly { approval_id: string }[] }>("approvals", id);
    const approvalId = approvals[0]?.approval_id ?? "";
    const cursor = await rig.cursor(id);
    const both = await Promise.all([1, 2].map(() => rig.home.run(["approve", id, approvalId, "--json"])));
    // The second joins the first while that is under way; afterwards there is nothing to answer.
    for (const result of both.toSorted((one, other) => (one.status ?? 0) - (other.status ?? 0)).slice(0, 1))
      expect(JSON.parse(result.stdout)).toMatchObject({ state: "settled", decision: "approved", by: "operator" });
    for (const result of both.filter(({ status }) => status !== 0)) stale(result);
    expect(await rig.wait(id, "--since", cursor)).toMatchObject({ reason: "turn-completed" });
    stale(await rig.home.run(["approve", id, approvalId, "--json"]));
    expect(await happened(rig, id, "approval-settled")).toHaveLength(1);
    await endNow(rig, id);
    // Nor does anything of it start again for a message.
    const late = await rig.home.run(["send", id, "[[say too late]]", "--json"]);
    expect(late.status).toBe(1);
    expect(refusalOf(late).code).toBe("session-ended");
  });

  // Linux takes no argument of more than 128 KiB: such prompts come from programs, over the socket.
  test("a prompt of a byte more than 1 MB is refused", async () => {
    const before = await rig.home.list();
    await expect(startLong(rig, agentCase, "x".repeat(1_048_577))).rejects.toMatchObject({ code: "message-too-long" });
    expect(await rig.home.list()).toEqual(before);
  });

  // Gemini CLI 0.61.0 takes more than a minute to take such a paste: it arrives, but is reported as unknown.
  const takesItSoon: boolean = agentCase.agent !== "gemini";
  test.runIf(takesItSoon)("150 KB are too long for the command line and come as the first message, once", async () => {
    const asked = rig.asked().length;
    const prompt = `[[say read it all]] ${"0123456789abcde ".repeat(9_600)}end`;
    const { session_id: id } = await startLong(rig, agentCase, prompt);
    const waited = await rig.wait(id, "--since", "0");
    expect(waited).toMatchObject({ reason: "turn-completed", session: { turns: 1 } });
    const prompts = rig
      .asked()
      .slice(asked)
      .map((request) => request.prompt);
    expect(prompts).toEqual([prompt]);
    expect(await happened(rig, id, "message-")).toEqual(["message-admitted", "message-delivered"]);
    const lines = rig.home.marked(id).map(({ pid }) => readCommandLine(pid));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => line.includes("read it all"))).toEqual([]);
    await endNow(rig, id);
  });
});

async function startLong(rig: Rig, { agent, args }: AgentCase, prompt: string) {
  const client = createClient({ socketPath: rig.home.socketPath }, { daemonCommand: () => [], environment: {} });
  return await client.startSession({
    agent,
    prompt,
    args: [...args],
    cwd: rig.workDir,
    environment: { ...rig.user.environment },
  });
}

/** Nothing is recorded and nothing started, whatever was wrong. */
async function refusedStart(rig: Rig, prompt: string | null, options: StartOptions = {}): Promise<Refusal["error"]> {
  const before = await recorded(rig);
  const result = await rig.tryStart(prompt, options);
  expect(result.status, result.stdout).toBe(2);
  expect(await recorded(rig)).toEqual(before);
  return refusalOf(result);
}

async function recorded(rig: Rig): Promise<object> {
  return { sessions: await rig.home.list(), events: (await rig.home.wishes()).length, outputs: outputs(rig) };
}

function outputs(rig: Rig): readonly string[] {
  const dir = join(rig.home.dir, "outputs");
  return existsSync(dir) ? readdirSync(dir, { recursive: true, encoding: "utf8" }) : [];
}

function stale(result: Result): string {
  expect(result.status).toBe(1);
  const { code, message } = refusalOf(result);
  expect(code).toBe("approval-stale");
  return message;
}

/** What the person said last, as the model was given it. */
function lastWords(rig: Rig): string | undefined {
  return rig.asked().at(-1)?.prompt;
}

/** Without what agents trim, and what keeps Codex from running it (src/agent/codex/shell-command.ts). */
function visible(text: string): string {
  return text.replace(/^[\u200b\s]+/, "").trimEnd();
}

/** A PATH on which the agent is this script, or not at all. */
function pathWith(rig: Rig, name: string, program: { readonly name: string; readonly prints: string } | null): string {
  const directory = join(rig.home.dir, name);
  mkdirSync(directory);
  symlinkSync(process.execPath, join(directory, "node"));
  if (program !== null) {
    const path = join(directory, program.name);
    writeFileSync(path, `#!/bin/sh\necho '${program.prints}'\n`);
    chmodSync(path, 0o755);
  }
  return `${directory}:/usr/bin:/bin`;
}
