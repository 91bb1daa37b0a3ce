/** The guide to post-mortems: every command of it is carried out, with the practice agent. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseSettings } from "../../src/supervisor/launch/settings.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { blocksOf } from "./blocks.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/post-mortem.md"), "utf8");
const shown = blocksOf(guide, "console").flatMap((block) =>
  block.split("\n").flatMap((line) => (line.startsWith("$ reeve ") ? [line.slice("$ reeve ".length)] : [])),
);
const mentioned = [...new Set([...guide.matchAll(/`reeve ([a-z][^`]* [^`]*)`/g)].map((found) => found[1] ?? ""))];

let home: TestHome;
const collector = createServer((request, response) => {
  request.resume();
  request.once("end", () => response.end("{}"));
});
beforeAll(async () => {
  home = createTestHome();
  collector.listen(0, "127.0.0.1");
  await once(collector, "listening");
});
afterAll(async () => {
  await home.dispose();
  collector.close();
});

const address = (): string => `127.0.0.1:${(collector.address() as AddressInfo).port}`;
let importId = "";

/** As a shell takes them apart; what stands for something of the reader's is replaced. */
function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word.replace(/^(["'])(.*)\1$/, "$2"));
  return words.map((word) =>
    word
      .replace(/^(?:codex|claude)$/, "practice")
      .replace("localhost:4318", address())
      .replace(/^import-\w+$/, importId),
  );
}

async function carriedOut(line: string): Promise<string> {
  const { status, stdout, stderr } = await home.run(wordsOf(line), { cwd: home.dir });
  if (line.includes("--capture proxy")) {
    // The practice agent has no model that it could reach through a proxy.
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("proxy") as string });
    return "";
  }
  expect({ line, status, stderr: status === 0 ? "" : stderr }).toEqual({ line, status: 0, stderr: "" });
  importId = /^Imported \S+ as (\S+)\.$/m.exec(stdout)?.[1] ?? importId;
  return stdout;
}

test(
  "what it shows is carried out in its order, and answers as it says; then all that it mentions",
  { timeout: 120_000 },
  async () => {
    const answers = new Map<string, string>();
    for (const line of shown) {
      answers.set(line, await carriedOut(line));
      if (line.startsWith("start ") && line.includes("--name build")) await home.run(["wait", "build"]);
    }
    expect(answers.get("export build")).toMatch(/^Exported build to .*build\.tar\.gz \(\d+ files, .*\)\.\n$/);
    expect(answers.get("show build")).toMatch(/turn 1 began\n[^]*turn 1 completed/);
    expect(answers.get("import build.tar.gz")).toMatch(
      /^Imported build as import-\w+\.\nIts story: .*\nIts report: .*\n/,
    );
    expect(answers.get("stats --since 7d")).toMatch(/^AGENT +SESSIONS +TURNS/);

    await home.run(["end", "build", "--when", "now", "--grace", "0"]);
    for (const line of mentioned) await carriedOut(line);
  },
);

test("its settings can be read", () => {
  for (const text of blocksOf(guide, "toml")) expect(() => parseSettings(text)).not.toThrow();
});

const hasJq = spawnSync("jq", ["--version"]).status === 0;

test.skipIf(!hasJq)("its line for jq reads session_meta.log", async () => {
  const { outputs_dir: cwd } = await home.session("build");
  const [line = ""] = blocksOf(guide, "sh");
  const read = execFileSync("sh", ["-c", line], { cwd: String(cwd), encoding: "utf8" });
  expect(read).toMatch(/\tended\toperator\tcli\t\n/);
});
