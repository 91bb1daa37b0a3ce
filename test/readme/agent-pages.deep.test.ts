/**
 * The page of each agent, and what an orchestrator should
 * know of Codex. The blocks are run in order with the real program, and a page
 * names the version that is tested. Of the agents only the model is ours.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { agentVersions } from "../agent-programs/agent-programs.ts";
import { type AgentHome, claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import { startScriptedModel, type ScriptedModel } from "../scripted-model/scripted-model.ts";
import { createTestHome, runProgram, type TestHome } from "../support/test-home.ts";
import { blocksOf } from "./blocks.ts";

const ROOT = join(import.meta.dirname, "..", "..");

interface Page {
  readonly name: string;
  /** Below docs/. */
  readonly path: string;
  /** The npm package whose version the page names. */
  readonly program: string | null;
  readonly prepare: (home: string, modelUrl: string, project: string) => Promise<AgentHome | null>;
}

const PAGES: readonly Page[] = [
  {
    name: "claude-code",
    path: "guide/agents/claude-code.md",
    program: "@anthropic-ai/claude-code",
    prepare: (home, url, project) => claudeHome(home, url, { trust: [project] }),
  },
  {
    name: "codex",
    path: "guide/agents/codex.md",
    program: "@openai/codex",
    async prepare(home, url, project) {
      const prepared = await codexHome(home, url, { trust: [project] });
      // As the page says that a person does who wants to be asked.
      mkdirSync(join(home, ".codex", "rules"));
      const rule = 'prefix_rule(pattern=["touch"], decision="prompt")\n';
      writeFileSync(join(home, ".codex", "rules", "default.rules"), rule);
      return prepared;
    },
  },
  {
    name: "gemini-cli",
    path: "guide/agents/gemini-cli.md",
    program: "@google/gemini-cli",
    prepare: (home, url, project) => geminiHome(home, url, { trust: [project] }),
  },
  {
    name: "any-command",
    path: "guide/agents/any-command.md",
    program: null,
    prepare: () => Promise.resolve(null),
  },
  {
    name: "codex-observability",
    path: "spec/agent-behaviors/codex-observability.md",
    program: null,
    prepare: (home, url, project) => codexHome(home, url, { trust: [project] }),
  },
];

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel();
});
afterAll(() => model.close());

describe.each(PAGES)("the page $name", { timeout: 120_000 }, ({ path, program, prepare }) => {
  const page = readFileSync(join(ROOT, "docs", path), "utf8");
  let home: TestHome;
  let project = "";
  let environment: Readonly<Record<string, string>> = {};
  beforeAll(async () => {
    home = createTestHome();
    project = join(home.dir, "project");
    mkdirSync(project);
    const prepared = await prepare(home.dir, model.url, project);
    environment = {
      ...prepared?.environment,
      ...home.environment,
      NO_PROXY: "127.0.0.1",
      PATH: `${join(ROOT, "bin")}:${home.environment["PATH"] ?? ""}`,
    };
  });
  afterAll(() => home.dispose());

  test.skipIf(program === null)("names the version that the tests run", () => {
    const [, version = ""] =
      agentVersions()
        .find((one) => one.startsWith(`${program} `))
        ?.split(" ") ?? [];
    expect(page.replaceAll(/\s+/g, " ")).toContain(`Tested with ${version}`);
  });

  test.each(blocksOf(page, "sh"))("%s", async (block) => {
    // The model does as it is told, so the prompt names a command that this person wants to be asked about.
    const script = block.replaceAll('"Run the tests"', '"[[shell touch tested]] [[say All tests pass.]]"');
    const { status, stdout, stderr } = await runProgram("sh", ["-ec", `cd '${project}'\n${script}`], environment);
    expect(status, `${stdout}${stderr}`).toBe(0);
    if (script !== block) expect(stdout).toMatch(/touch tested[^]*All tests pass\./);
  });

  test("nothing is left that the page started", async () => {
    expect((await home.json<{ sessions: object[] }>("list")).sessions).toEqual([]);
  });
});
