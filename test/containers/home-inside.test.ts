/** What of the user's files the agents have in a container, and how. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeLaunch } from "../../src/agent/agent-fixture.ts";
import { claudeAgent } from "../../src/agent/claude/claude-agent.ts";
import { homeParts as codexParts } from "../../src/agent/codex/codex-home.ts";
import { homeParts as geminiParts } from "../../src/agent/gemini/home-parts.ts";
import { localFiles } from "../../src/runtime/local-files.ts";
import type { Container } from "../../src/session/container.ts";
import { homeInside, launchInside } from "../../src/supervisor/launch/home-inside.ts";

let user: string;
let own: string;
beforeEach(() => {
  user = mkdtempSync(join(tmpdir(), "reeve-user-"));
  own = join(user, "outputs", "s-1");
});
afterEach(() => rmSync(user, { recursive: true, force: true }));

const container: Container = { image: "x", cpus: null, memoryBytes: null, pids: null, network: "none", mounts: [] };
const has = (path: string, text = "{}"): void => {
  mkdirSync(join(user, path, ".."), { recursive: true });
  writeFileSync(join(user, path), text);
};
const launch = (paths: Readonly<Record<string, string>> = {}) =>
  makeLaunch({ container, cwd: "/work", paths: { PATH: "/bin", HOME: user, ...paths } });

test("log-ins can be written, settings cannot, and what is not there is left out", async () => {
  for (const path of [".codex/auth.json", ".codex/rules/a.rules", ".codex/sessions/other.jsonl", ".codex/config.toml"])
    has(path);
  const { mounts, files } = await homeInside(localFiles, launch(), own, { homeParts: codexParts });
  const at = (name: string, isReadOnly: boolean) => ({
    source: join(user, ".codex", name),
    target: join(own, "agent-home", ".codex", name),
    isReadOnly,
  });
  expect(mounts).toEqual([at("auth.json", false), at("rules", true)]);
  expect(files.map(({ path }) => path)).toEqual([join(own, "agent-home/.codex/config.toml")]);

  has(".gemini/oauth_creds.json");
  has(".gemini/settings.json");
  const gemini = await homeInside(localFiles, launch(), own, { homeParts: geminiParts });
  expect(gemini.mounts.map(({ target, isReadOnly }) => [target.slice(own.length), isReadOnly])).toEqual([
    ["/agent-home/.gemini/oauth_creds.json", false],
    ["/agent-home/.gemini/settings.json", true],
  ]);
});

test("Claude Code is told of its own directory only, once; a directory of the user's choice is found", async () => {
  const global = {
    theme: "dark",
    projects: { "/work": { hasTrustDialogAccepted: true }, "/other": { history: ["x"] } },
  };
  has("chosen/.claude.json", JSON.stringify(global));
  has("chosen/settings.json", '{"model":"m"}');
  const chosen = launch({ CLAUDE_CONFIG_DIR: join(user, "chosen") });
  const first = await homeInside(localFiles, chosen, own, claudeAgent);
  expect(first.files.map(({ content }) => JSON.parse(content) as unknown)).toEqual([
    { theme: "dark", projects: { "/work": { hasTrustDialogAccepted: true } } },
  ]);
  // A plan reads what the session will see.
  expect(first.outside(join(own, "agent-home/.claude/settings.json"))).toBe(join(user, "chosen/settings.json"));
  expect(launchInside(chosen, own, claudeAgent).paths).toEqual({ PATH: "/bin", HOME: join(own, "agent-home") });
  for (const file of first.files) await localFiles.write(file);
  expect((await homeInside(localFiles, chosen, own, claudeAgent)).files).toEqual([]);
});

test("a session of this machine has its user's home", async () => {
  has(".codex/auth.json");
  const local = { ...launch(), container: null };
  expect(await homeInside(localFiles, local, own, { homeParts: codexParts })).toMatchObject({ mounts: [], files: [] });
  expect(launchInside(local, own, claudeAgent)).toBe(local);
});
