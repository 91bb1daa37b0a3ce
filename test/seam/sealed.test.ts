/**
 * The adapters of agents and what watches sessions reach a session's files and programs only through its runtime.
 * vitest.config.ts takes `node:fs`, `node:child_process` and Reeve's own modules that use them away from
 * that code in every test; here is shown that it does, and whom it spares.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { forbiddenImports, isSealed, seal } from "../../script/sealed.ts";

test("sealed code that reaches for the machine does not even load in a test", async () => {
  await expect(import("../support/sealed-probe.ts")).rejects.toThrow("out of reach: node:fs");
});

test("every adapter and every watch is sealed, and loads", async () => {
  const source = join(import.meta.dirname, "..", "..", "src");
  const files = globSync(["agent/**/*.ts", "supervisor/attention/*.ts"], { cwd: source }).filter(isSealed);
  expect(files).toEqual(
    expect.arrayContaining([
      "agent/claude/claude-agent.ts",
      "agent/codex/codex-agent.ts",
      "agent/gemini/gemini-agent.ts",
      "agent/practice/practice-agent.ts",
      "supervisor/attention/attention.ts",
      "supervisor/attention/spool.ts",
      "supervisor/attention/transcript-watch.ts",
    ]),
  );
  for (const file of [
    "agent/codex/codex-agent.ts",
    "agent/claude/claude-agent.ts",
    "supervisor/attention/attention.ts",
  ])
    expect(Object.keys((await import(join(source, file))) as object)).not.toEqual([]);
});

test.each([
  [`import { readFileSync } from "node:fs";`, ["node:fs"]],
  [`import {\n  open,\n  readdir,\n} from "node:fs/promises";`, ["node:fs/promises"]],
  [`import "node:child_process";`, ["node:child_process"]],
  [`const { watch } = await import("node:fs");`, ["node:fs"]],
  [`export { readTail } from "../../platform/file-tail.ts";`, ["../../platform/file-tail.ts"]],
  [`import type { Stats } from "node:fs";`, []],
  [`import { join } from "node:path";\nimport { messageOf } from "../../platform/reeve-error.ts";`, []],
])("%j", (text, found) => {
  expect(forbiddenImports(text)).toEqual(found);
  expect(seal(text) === text).toBe(found.length === 0);
});
