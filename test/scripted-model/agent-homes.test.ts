import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pathWithAgents } from "../agent-programs/agent-programs.ts";
import { claudeHome, codexHome, geminiHome } from "./agent-homes.ts";

const url = "http://127.0.0.1:1/s/abc";
let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "reeve-model-"));
});
afterEach(() => rm(home, { recursive: true }));

const read = (path: string) => readFile(join(home, path), "utf8");
const readJson = async (path: string): Promise<unknown> => JSON.parse(await read(path));
const base = () => ({
  PATH: pathWithAgents(process.env["PATH"] ?? ""),
  HOME: home,
  LANG: "C.UTF-8",
  TERM: "xterm-256color",
});

test("codex: a provider of its own, trust, nothing that leaves the machine, and no word on the daemon", async () => {
  const { environment } = await codexHome(home, url, { trust: ["/w/a", '/w/"b"'] });
  expect(environment).toEqual({
    ...base(),
    SCRIPTED_MODEL_KEY: "scripted-dummy-key",
    HTTPS_PROXY: "http://127.0.0.1:9",
  });
  expect(parse(await read(".codex/config.toml"))).toEqual({
    model: "scripted",
    model_provider: "scripted",
    check_for_update_on_startup: false,
    model_providers: {
      scripted: { name: "Scripted model", base_url: `${url}/v1`, env_key: "SCRIPTED_MODEL_KEY", wire_api: "responses" },
    },
    analytics: { enabled: false },
    features: { apps: false, plugins: false },
    tui: { show_tooltips: false },
    projects: { "/w/a": { trust_level: "trusted" }, '/w/"b"': { trust_level: "trusted" } },
  });
});

test("codex: OpenAI's own provider, with a key or a log-in with ChatGPT", async () => {
  const { environment } = await codexHome(home, url, { openai: { key: "a-key" } });
  expect(environment).not.toHaveProperty("SCRIPTED_MODEL_KEY");
  expect(await readJson(".codex/auth.json")).toEqual({ OPENAI_API_KEY: "a-key" });
  await codexHome(home, url, { openai: { accessToken: "a-token" } });
  expect(await readJson(".codex/auth.json")).toMatchObject({
    OPENAI_API_KEY: null,
    tokens: { access_token: "a-token" },
  });
  const config = parse(await read(".codex/config.toml"));
  expect(config).toMatchObject({ openai_base_url: `${url}/v1`, chatgpt_base_url: `${url}/backend-api` });
  expect(config).not.toHaveProperty("model_provider");
});

test("claude: a key that is approved, trust, and the mode that asks", async () => {
  const { environment } = await claudeHome(home, url, { trust: ["/w"] });
  expect(environment).toMatchObject({ ...base(), ANTHROPIC_BASE_URL: url, DISABLE_AUTOUPDATER: "1" });
  expect(await readJson(".claude/settings.json")).toEqual({ permissions: { defaultMode: "default" } });
  expect(await readJson(".claude.json")).toMatchObject({
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: [environment["ANTHROPIC_API_KEY"]?.slice(-20)] },
    projects: { "/w": { hasTrustDialogAccepted: true } },
  });
});

test("gemini: a key, trust, no statistics", async () => {
  const { environment } = await geminiHome(home, url, { trust: ["/w"] });
  expect(environment).toEqual({ ...base(), GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "scripted-dummy-key" });
  expect(await readJson(".gemini/trustedFolders.json")).toEqual({ "/w": "TRUST_FOLDER" });
  expect(await readJson(".gemini/settings.json")).toEqual({
    security: { folderTrust: { enabled: true }, auth: { selectedType: "gemini-api-key" } },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  });
});

test("trust and login can be left out", async () => {
  const without = { trust: ["/w"], trusted: false, loggedIn: false };
  const homes = await Promise.all([codexHome, claudeHome, geminiHome].map((prepare) => prepare(home, url, without)));
  expect(JSON.stringify(homes)).not.toMatch(/dummy/);
  expect(await read(".codex/config.toml")).not.toMatch(/projects|model_provider/);
  expect(await readJson(".claude.json")).toMatchObject({ projects: {} });
  expect(await readJson(".claude.json")).not.toHaveProperty("customApiKeyResponses");
  expect(await readJson(".gemini/trustedFolders.json")).toEqual({});
  expect(await readJson(".gemini/settings.json")).not.toHaveProperty("security.auth");
});
