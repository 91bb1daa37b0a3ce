/**
 * `reeve init` with the real agents: it registers Reeve through the agent's own
 * command, says before what will change, does nothing the second time, and
 * takes back exactly what it did.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import type { Result, TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const LAUNCHER = join(import.meta.dirname, "..", "..", "bin", "reeve");
const OTHER = { command: "true", args: ["mine"] };

interface Subject {
  readonly agent: "claude" | "codex" | "gemini";
  readonly prepare: typeof claudeHome;
  readonly file: string;
  readonly projectFile: string | null;
  readonly skill: string;
  readonly read: (text: string) => Readonly<Record<string, unknown>>;
  /** The file with these servers added. */
  readonly write: (text: string, servers: object) => string;
  readonly servers: "mcpServers" | "mcp_servers";
}

function writeJson(text: string, servers: object): string {
  return JSON.stringify({ ...(JSON.parse(text) as object), mcpServers: servers }, null, 2);
}

function writeToml(text: string, servers: object): string {
  const tables = Object.entries(servers).map(
    ([name, { command, args }]: [string, typeof OTHER]) =>
      `[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
  );
  return `${text}\n${tables.join("\n")}`;
}

const subjects: readonly Subject[] = [
  {
    agent: "claude",
    prepare: claudeHome,
    file: ".claude.json",
    projectFile: ".mcp.json",
    skill: ".claude/skills/reeve/SKILL.md",
    read: JSON.parse,
    write: writeJson,
    servers: "mcpServers",
  },
  {
    agent: "codex",
    prepare: codexHome,
    file: ".codex/config.toml",
    projectFile: null,
    skill: ".codex/skills/reeve/SKILL.md",
    read: parse,
    write: writeToml,
    servers: "mcp_servers",
  },
  {
    agent: "gemini",
    prepare: geminiHome,
    file: ".gemini/settings.json",
    projectFile: ".gemini/settings.json",
    skill: ".gemini/skills/reeve/SKILL.md",
    read: JSON.parse,
    write: writeJson,
    servers: "mcpServers",
  },
];

describe.each(subjects)("$agent", { timeout: 60_000 }, (subject) => {
  const { agent, file, projectFile, skill, read, write, servers } = subject;
  let home: TestHome;
  let user: string;
  let project: string;
  let environment: Readonly<Record<string, string>>;

  beforeAll(async () => {
    home = createTestHome();
    user = join(home.dir, "user");
    project = join(home.dir, "project");
    for (const directory of [user, project]) mkdirSync(directory);
    const prepared = await subject.prepare(user, "http://127.0.0.1:9", { trust: [project] });
    environment = { ...prepared.environment, PATH: home.environment["PATH"] ?? "" };
    writeFileSync(join(user, file), write(readFileSync(join(user, file), "utf8"), { mine: OTHER }));
  });
  afterAll(() => home.dispose(), 60_000);

  const init = (...words: readonly string[]): Promise<Result> =>
    home.run(["init", agent, ...words], { environment, cwd: project });
  const textOf = (path: string): string => readFileSync(join(user, path), "utf8");
  const serversIn = (path: string): unknown => read(textOf(path))[servers];

  test("it is shown first; without a person or --yes nothing is changed", async () => {
    const before = textOf(file);
    const result = await init();
    expect(result.status).toBe(1);
    expect(result.stdout).toContain(`run: ${agent} mcp add`);
    expect(result.stdout).toContain(join(user, file));
    expect(result.stderr).toContain("Nothing was changed. To do it without being asked, add --yes.");
    expect(textOf(file)).toBe(before);
  });

  test("it is registered beside the user's own, once, and can be taken back", async () => {
    const before = read(textOf(file));
    expect(await init("--yes", "--skill")).toMatchObject({ status: 0, stderr: "" });
    expect(serversIn(file)).toMatchObject({
      mine: OTHER,
      reeve: { command: LAUNCHER, args: ["mcp"], env: { REEVE_HOME: home.dir } },
    });
    expect(textOf(skill)).toContain("name: reeve");
    if (agent === "claude") {
      const shown = await runProgram("claude", ["mcp", "get", "reeve"], environment);
      expect(shown.stdout).toContain("Connected");
    }

    const made = textOf(file);
    const again = await init("--yes", "--skill");
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining("Nothing was changed") as unknown });
    expect(textOf(file)).toBe(made);

    const undone = await init("--undo", "--yes", "--json");
    expect(JSON.parse(undone.stdout)).toMatchObject({ done: true, agent, undo: true, changes: [{}, {}].map(anyText) });
    expect(read(textOf(file))).toMatchObject(before);
    expect(serversIn(file)).toEqual({ mine: OTHER });
    expect(existsSync(join(user, skill))).toBe(false);
    expect(JSON.parse((await init("--undo", "--yes", "--json")).stdout)).toMatchObject({ done: true, changes: [] });
  });

  test("taken back at once, the file has the very bytes that it had, however it was written", async () => {
    const plain = textOf(file);
    const odd =
      servers === "mcp_servers"
        ? [plain.replaceAll("\n", "\r\n"), `${plain.trimEnd()}   # no line end`]
        : [
            JSON.stringify(JSON.parse(plain), null, "\t\t").replaceAll("\n", "\r\n"),
            JSON.stringify({ ...(JSON.parse(plain) as object), mcpServers: {} }),
            ...(agent === "gemini" ? [plain.replace("{", '{ // mine, with a "quote\n/* and */')] : []),
          ];
    for (const text of odd) {
      writeFileSync(join(user, file), text);
      expect(await init("--yes")).toMatchObject({ status: 0, stderr: "" });
      expect(textOf(file)).not.toBe(text);
      expect(await init("--undo", "--yes")).toMatchObject({ status: 0, stderr: "" });
      expect(textOf(file)).toBe(text);
    }
    writeFileSync(join(user, file), plain);
  });

  test.runIf(agent === "gemini")("a file of settings that was made for it alone is taken back too", async () => {
    const before = textOf(file);
    rmSync(join(user, file));
    expect(await init("--yes")).toMatchObject({ status: 0 });
    expect(serversIn(file)).toMatchObject({ reeve: { command: LAUNCHER } });
    expect(await init("--undo", "--yes")).toMatchObject({ status: 0 });
    expect(existsSync(join(user, file))).toBe(false);
    writeFileSync(join(user, file), before);
  });

  test("a server of the user's own with that name is neither replaced nor removed", async () => {
    const before = textOf(file);
    writeFileSync(join(user, file), write(stripped(before), { mine: OTHER, reeve: OTHER }));
    const taken = textOf(file);
    const refused = await init("--yes", "--json");
    expect(refused.status).not.toBe(0);
    expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: "name-taken" } });
    expect(JSON.parse((await init("--undo", "--yes", "--json")).stdout)).toMatchObject({ done: true, changes: [] });
    expect(textOf(file)).toBe(taken);
    writeFileSync(join(user, file), before);
  });

  test("one with options that the user chose stays as it is", async () => {
    const before = textOf(file);
    const chosen = { command: LAUNCHER, args: ["mcp", "--channel"] };
    writeFileSync(join(user, file), write(stripped(before), { mine: OTHER, reeve: chosen }));
    for (const words of [["--yes"], ["--undo", "--yes"]]) {
      const result = await init(...words, "--json");
      expect(JSON.parse(result.stdout)).toMatchObject({ done: true, changes: [], notes: [anyText()] });
    }
    expect(serversIn(file)).toEqual({ mine: OTHER, reeve: chosen });
    writeFileSync(join(user, file), before);
  });

  /** Without its servers, which are added again. */
  function stripped(text: string): string {
    return servers === "mcp_servers" ? text.slice(0, text.indexOf("[mcp_servers")) : text;
  }

  test("--project is for this directory, where the agent can do that", async () => {
    const result = await init("--project", "--yes", "--json");
    if (projectFile === null) {
      expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: "no-project-scope" } });
      return;
    }
    expect(result).toMatchObject({ status: 0 });
    expect(read(readFileSync(join(project, projectFile), "utf8"))).toMatchObject({
      mcpServers: { reeve: { command: LAUNCHER } },
    });
    expect(serversIn(file)).toEqual({ mine: OTHER });
    expect(await init("--project", "--undo", "--yes")).toMatchObject({ status: 0 });
    expect(readdirSync(project)).toEqual([]);
  });

  test("without the program, and inside a session, it says what to do", async () => {
    const nowhere = await home.run(["init", agent, "--yes", "--json"], {
      environment: { ...environment, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
      cwd: project,
    });
    expect(JSON.parse(nowhere.stdout)).toMatchObject({
      error: { code: "agent-not-installed", message: expect.stringContaining("npm install -g") as unknown },
    });
    const inside = await home.run(["init", agent, "--yes", "--json"], {
      environment: { ...environment, REEVE_SESSION_ID: "a" },
      cwd: project,
    });
    expect(JSON.parse(inside.stdout)).toMatchObject({ error: { code: "inside-session" } });
  });
});

function anyText(): unknown {
  return expect.any(String) as unknown;
}
