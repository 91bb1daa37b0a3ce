/**
 * Where the recording is made: a home of Reeve's own, a small project, and the
 * real agents with the scripted model behind them. It is all gone afterwards.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { claudeHome, codexHome, geminiHome } from "../../test/scripted-model/agent-homes.ts";
import { startScriptedModel } from "../../test/scripted-model/scripted-model.ts";
import type { TestHome } from "../../test/support/test-home.ts";
import { createTestHome } from "../../test/support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** The one path that the recording shows. */
export const PROJECT = "/tmp/shop";

export interface Stage {
  readonly home: TestHome;
  /** Of a person's shell, with `reeve` and the agents on the path. */
  readonly environment: Readonly<Record<string, string>>;
  /** The command line of that shell. */
  readonly shell: string;
  dispose(): Promise<void>;
}

/** `meanings`: what the model does for each prompt. */
export async function buildStage(meanings: Readonly<Record<string, string>>): Promise<Stage> {
  // Fails where it is there already: it is not ours then.
  mkdirSync(PROJECT);
  writeProject();
  const home = createTestHome();
  const model = await startScriptedModel({ meanings });
  const options = { trust: [PROJECT] };
  const agents = [
    await claudeHome(home.dir, model.url, options),
    await codexHome(home.dir, model.url, options),
    await geminiHome(home.dir, model.url, options),
  ];
  const environment: Record<string, string> = Object.assign(
    {},
    ...agents.map((agent) => agent.environment),
    home.environment,
    {
      PATH: `${join(ROOT, "bin")}:${home.environment["PATH"] ?? ""}`,
      // Codex's guard against the network is a proxy that nobody answers; the others would ask it for loopback too.
      NO_PROXY: "127.0.0.1",
      npm_config_update_notifier: "false",
    },
  );
  const shellStart = join(home.dir, "shell-start");
  writeFileSync(shellStart, String.raw`PS1='\[\e[32m\]shop\[\e[0m\] $ '; unset HISTFILE` + "\n");
  return {
    home,
    environment,
    shell: `bash --noprofile --rcfile ${shellStart}`,
    async dispose() {
      try {
        await home.dispose();
      } finally {
        await model.close();
        rmSync(PROJECT, { recursive: true });
      }
    },
  };
}

/** Small, but what the agents and the server do in it is real. */
function writeProject(): void {
  const files = {
    "package.json": `${JSON.stringify({ name: "shop", type: "module", scripts: { test: "node --test", dev: "node server.js" } }, null, 2)}\n`,
    "checkout.js": `export const total = (cents) => cents.reduce((sum, one) => sum + one, 0);\n`,
    "checkout.test.js": `import { test } from "node:test";\nimport assert from "node:assert";\nimport { total } from "./checkout.js";\n\ntest("an empty cart costs nothing", () => assert.equal(total([]), 0));\ntest("a cart costs what is in it", () => assert.equal(total([250, 199]), 449));\n`,
    "server.js": `import { createServer } from "node:http";\n\nconst server = createServer((request, response) => response.end("shop"));\nserver.listen(0, "127.0.0.1", () => console.log("shop is served on 127.0.0.1"));\n`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(PROJECT, name), text);
}
