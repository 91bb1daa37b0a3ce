/** The guide to manifests: its files are right, and its commands do what it says. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGitRepository, type GitRepository } from "../support/git-repository.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { blocksOf } from "./blocks.ts";

const guide = readFileSync(join(import.meta.dirname, "../../docs/guide/manifest.md"), "utf8");
const [example = "", secrets = ""] = blocksOf(guide, "toml");
const [commands = ""] = blocksOf(guide, "sh");

let home: TestHome;
let repository: GitRepository;
beforeAll(() => {
  home = createTestHome();
  repository = createGitRepository();
});
afterAll(async () => {
  await home.dispose();
  repository.dispose();
});

test("its first example is carried out by the commands below it", async () => {
  writeFileSync(join(repository.root, "reeve.toml"), example);
  const seen: (readonly [string, number | null, string])[] = [];
  for (const line of commands.split("\n")) {
    const { status, stdout, stderr } = await home.run(line.split(" ").slice(1), { cwd: repository.root });
    seen.push([line, status, `${stdout}${stderr}`]);
  }
  expect(seen).toEqual([
    ["reeve plan", 2, expect.stringContaining("2 to start. Carry it out with: reeve up")],
    ["reeve up", 0, expect.stringContaining("Started builder.")],
    ["reeve list --manifest", 0, expect.stringMatching(/^NAME(?=[^]*\nbuilder )(?=[^]*\ndev )/)],
    ["reeve down", 0, expect.stringMatching(/^dev is stopped[^]*builder is stopped/)],
  ]);
});

test("files of secrets are checked as it says", async () => {
  const directory = join(repository.root, "secrets");
  mkdirSync(join(directory, "keys"), { recursive: true });
  writeFileSync(join(directory, "reeve.toml"), secrets.replace("codex", "practice"));
  writeFileSync(join(directory, ".env.reviewer"), "A=1\n", { mode: 0o600 });
  writeFileSync(join(directory, "keys/openai"), "a-key\n");
  chmodSync(join(directory, "keys/openai"), 0o644);
  const refused = await home.run(["plan"], { cwd: directory });
  expect([refused.status, refused.stderr]).toEqual([78, expect.stringContaining(`chmod 600 ${directory}/keys/openai`)]);
  chmodSync(join(directory, "keys/openai"), 0o600);
  expect((await home.run(["plan"], { cwd: directory })).status).toBe(2);
});
