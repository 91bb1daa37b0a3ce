/** Whose limits a session draws on. */
import { expect, test } from "vitest";
import { makeLaunch } from "./agent-fixture.ts";
import { readAccount as claude } from "./claude/account.ts";
import { readAccount as codex } from "./codex/account.ts";
import type { LoginContext } from "./contract.ts";
import { readAccount as gemini } from "./gemini/account.ts";

type Files = Readonly<Record<string, string>>;
type Read = (context: LoginContext) => string | null;

function ask(read: Read, environment: Readonly<Record<string, string>>, files: Files = {}): string | null {
  const all = { HOME: "/home/user", ...environment };
  return read({ environment: all, launch: makeLaunch({ paths: all }), read: (path) => files[path] ?? null });
}

const CODEX = "/home/user/.codex";
const mine =
  'model_provider = "mine"\n[model_providers.mine]\nenv_key = "K"\nbase_url = "http://127.0.0.1:9/s/abc/v1"\n';
const tokens = '{"tokens":{"access_token":"secret","account_id":"acc-1"}}';

test.each<[string, Read, Readonly<Record<string, string>>, Files, string | null]>([
  ["codex, a provider's key", codex, { K: "a" }, { [`${CODEX}/config.toml`]: mine }, "api-key ca978112 at 127.0.0.1:9"],
  ["codex, another key", codex, { K: "b" }, { [`${CODEX}/config.toml`]: mine }, "api-key 3e23e816 at 127.0.0.1:9"],
  ["codex, no key", codex, {}, { [`${CODEX}/config.toml`]: mine }, null],
  ["codex, ChatGPT", codex, {}, { [`${CODEX}/auth.json`]: tokens }, "ChatGPT acc-1"],
  [
    "codex, a key",
    codex,
    {},
    { [`${CODEX}/auth.json`]: '{"OPENAI_API_KEY":"a"}' },
    "api-key ca978112 at api.openai.com",
  ],
  ["codex, nothing", codex, {}, {}, null],
  ["codex, a broken config", codex, {}, { [`${CODEX}/config.toml`]: "=" }, null],
  ["claude, a key", claude, { ANTHROPIC_API_KEY: "a" }, {}, "api-key ca978112 at api.anthropic.com"],
  [
    "claude, a gateway",
    claude,
    { ANTHROPIC_AUTH_TOKEN: "a", ANTHROPIC_BASE_URL: "https://gate.test/x?key=1" },
    {},
    "api-key ca978112 at gate.test",
  ],
  ["claude, a token", claude, { CLAUDE_CODE_OAUTH_TOKEN: "a" }, {}, "claude.ai token ca978112"],
  [
    "claude, a plan",
    claude,
    {},
    {
      "/home/user/.claude/.credentials.json": '{"claudeAiOauth":{"accessToken":"secret"}}',
      "/home/user/.claude.json": '{"oauthAccount":{"accountUuid":"u-1"}}',
    },
    "claude.ai u-1",
  ],
  ["claude, Bedrock", claude, { CLAUDE_CODE_USE_BEDROCK: "1" }, {}, null],
  ["claude, nothing", claude, {}, {}, null],
  ["gemini, a key", gemini, { GEMINI_API_KEY: "a" }, {}, "api-key ca978112 at generativelanguage.googleapis.com"],
  [
    "gemini, a key in a file",
    gemini,
    {},
    { "/home/user/.gemini/.env": 'export GEMINI_API_KEY="a"\n' },
    "api-key ca978112 at generativelanguage.googleapis.com",
  ],
  [
    "gemini, a Google account, chosen before a key",
    gemini,
    { GEMINI_API_KEY: "a" },
    {
      "/home/user/.gemini/oauth_creds.json": '{"refresh_token":"secret"}',
      "/home/user/.gemini/google_accounts.json": '{"active":"a"}',
      "/home/user/.gemini/settings.json": '{"security":{"auth":{"selectedType":"oauth-personal"}}}',
    },
    "Google account ca978112",
  ],
  ["gemini, nothing", gemini, {}, {}, null],
])("%s", (_name, read, environment, files, account) => {
  expect(ask(read, environment, files)).toBe(account);
});
