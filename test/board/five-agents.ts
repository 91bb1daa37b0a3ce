/**
 * Five sessions under one Reeve, of the real agents: each agent has a home of
 * its own and the scripted model behind it. They work in two git work trees,
 * on the branches `main` and `fix-login`.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { claudeHome, codexHome, geminiHome } from "../scripted-model/agent-homes.ts";
import { startScriptedModel } from "../scripted-model/scripted-model.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

export interface FiveAgents {
  readonly home: TestHome;
  /** The file that is there once the question of `asker` was approved. */
  readonly touched: string;
  dispose(): Promise<void>;
}

type AgentName = "claude" | "codex" | "gemini" | "command";

/** They run: one asks, one is at work, one serves, two have finished. */
export async function startFiveAgents(): Promise<FiveAgents> {
  const home = createTestHome();
  const model = await startScriptedModel();
  // Not below the home: where temporary files lie differs from machine to machine, and this is seen on the screens.
  const work = mkdtempSync("/tmp/reeve-work-");
  const dispose = async (): Promise<void> => {
    try {
      await home.dispose();
    } finally {
      rmSync(work, { recursive: true, force: true });
      await model.close();
    }
  };
  const trees = { main: join(work, "main"), "fix-login": join(work, "login") } as const;
  const touched = join(trees.main, "asked.txt");

  async function startAll(): Promise<void> {
    makeWorkTrees(trees);
    const trust = { trust: Object.values(trees) };
    const at = (agent: string): string => {
      const dir = join(home.dir, `${agent}-home`);
      mkdirSync(dir);
      return dir;
    };
    const users = {
      claude: await claudeHome(at("claude"), model.url, trust),
      codex: await codexHome(at("codex"), model.url, trust),
      gemini: await geminiHome(at("gemini"), model.url, trust),
      command: { environment: {} },
    } satisfies Record<AgentName, { readonly environment: Readonly<Record<string, string>> }>;
    const start = async (
      agent: AgentName,
      name: string,
      branch: keyof typeof trees,
      ...words: readonly string[]
    ): Promise<void> => {
      const line = [
        "start",
        agent,
        "--name",
        name,
        "--cwd",
        trees[branch],
        "--branch",
        branch,
        "--allow-shared-checkout",
        ...words,
      ];
      const environment = { ...users[agent].environment, PATH: home.environment["PATH"] ?? "" };
      const { status, stdout, stderr } = await home.run(line, { environment });
      if (status !== 0) throw new Error(`start ended with ${status}: ${stdout}${stderr}`);
    };
    const until = (name: string, what: string): Promise<SessionRow> =>
      home.json("wait", name, "--for", what, "--timeout", "60");
    await start("claude", "asker", "main", `[[shell touch ${touched}]] [[say The file is there.]]`);
    await start("claude", "builder", "fix-login", "[[hang]]");
    await start("command", "server", "main", "--", "sh", "-c", "echo ready on port 3000; exec sleep 600");
    await start("codex", "writer", "fix-login", "[[say All 12 tests pass.]]");
    await until("writer", "turn-completed");
    // After the other: who finished first stands first.
    await start("gemini", "reviewer", "main", "[[say I found nothing to complain about.]]");
    await until("reviewer", "turn-completed");
    await until("asker", "awaiting-approval");
  }

  try {
    await startAll();
    return { home, touched, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

function makeWorkTrees(trees: { readonly main: string; readonly "fix-login": string }): void {
  const git = (...args: readonly string[]): Buffer => execFileSync("git", args);
  const author = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid"];
  git("init", "--quiet", "--initial-branch=main", trees.main);
  git("-C", trees.main, ...author, "commit", "--quiet", "--allow-empty", "--message", "Begin");
  git("-C", trees.main, "worktree", "add", "--quiet", "-b", "fix-login", trees["fix-login"]);
}
