/** Whether an agent is logged in, by the files and variables it would look at itself. */
import { describe, expect, test } from "vitest";
import type { Launch } from "../session/session.ts";
import { readLogin as claude } from "./claude/login.ts";
import { loginVariables, readLogin as codex } from "./codex/login.ts";
import type { Login, LoginContext } from "./contract.ts";
import { readLogin as gemini } from "./gemini/login.ts";
import { plainLaunch } from "../session/plain-launch.ts";

interface World {
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
}

const launch = (paths: Readonly<Record<string, string>>): Launch => plainLaunch("/work", { paths });

function ask(read: (context: LoginContext) => Login, { files = {}, environment = {} }: World): Login["status"] {
  const all = { HOME: "/home/user", ...environment };
  return read({ environment: all, launch: launch(all), read: (path) => files[path] ?? null }).status;
}

describe("codex", () => {
  const AUTH = "/home/user/.codex/auth.json";
  const CONFIG = "/home/user/.codex/config.toml";
  const provider = 'model_provider = "mine"\n[model_providers.mine]\n';
  test.each<[string, World, Login["status"]]>([
    ["nothing", {}, "logged-out"],
    ["a key in the environment, which it does not take", { environment: { OPENAI_API_KEY: "k" } }, "logged-out"],
    ["tokens", { files: { [AUTH]: '{"OPENAI_API_KEY":null,"tokens":{"access_token":"t"}}' } }, "logged-in"],
    ["a key", { files: { [AUTH]: '{"OPENAI_API_KEY":"sk"}' } }, "logged-in"],
    ["an empty log-in", { files: { [AUTH]: '{"OPENAI_API_KEY":null}' } }, "logged-out"],
    ["a damaged log-in", { files: { [AUTH]: "{" } }, "logged-out"],
    [
      "elsewhere",
      { files: { "/c/auth.json": '{"OPENAI_API_KEY":"sk"}' }, environment: { CODEX_HOME: "/c" } },
      "logged-in",
    ],
    ["a provider without its key", { files: { [CONFIG]: `${provider}env_key = "MY_KEY"\n` } }, "logged-out"],
    [
      "a provider with its key",
      { files: { [CONFIG]: `${provider}env_key = "MY_KEY"\n` }, environment: { MY_KEY: "k" } },
      "logged-in",
    ],
    ["a provider that needs none", { files: { [CONFIG]: provider } }, "logged-in"],
    [
      "a provider that needs OpenAI's",
      { files: { [CONFIG]: `${provider}requires_openai_auth = true\n` } },
      "logged-out",
    ],
    ["the keyring", { files: { [CONFIG]: 'cli_auth_credentials_store = "keyring"\n' } }, "unknown"],
    ["a config that is no TOML", { files: { [CONFIG]: "=" } }, "unknown"],
    ["no home", { environment: { HOME: "" } }, "unknown"],
  ])("%s", (_what, world, status) => expect(ask(codex, world)).toBe(status));
});

describe("the variables that a container of codex has", () => {
  const CONFIG = "/home/user/.codex/config.toml";
  const asked = (config: string) =>
    loginVariables({
      launch: launch({ HOME: "/home/user" }),
      read: (path) => (path === CONFIG ? config : null),
    });
  test.each([
    ["none of OpenAI's, which takes none", "", []],
    [
      "none, if a provider needs OpenAI's",
      'model_provider = "a"\n[model_providers.a]\nrequires_openai_auth = true\n',
      [],
    ],
    [
      "those that its provider names",
      'model_provider = "a"\n[model_providers.a]\nenv_key = "A"\nenv_http_headers = { X = "B", Y = 1 }\n[model_providers.b]\nenv_key = "C"\n',
      ["A", "B"],
    ],
    ["none, if its config cannot be read", "=", []],
  ])("%s", (_what, config, names) => expect(asked(config)).toEqual(names));
});

describe("claude", () => {
  const oauth = '{"claudeAiOauth":{"accessToken":"t"}}';
  test.each<[string, World, Login["status"]]>([
    ["nothing", {}, "logged-out"],
    ["a key", { environment: { ANTHROPIC_API_KEY: "k" } }, "logged-in"],
    ["an empty key", { environment: { ANTHROPIC_API_KEY: "" } }, "logged-out"],
    ["a token", { environment: { CLAUDE_CODE_OAUTH_TOKEN: "t" } }, "logged-in"],
    ["credentials", { files: { "/home/user/.claude/.credentials.json": oauth } }, "logged-in"],
    [
      "credentials elsewhere",
      { files: { "/c/.credentials.json": oauth }, environment: { CLAUDE_CONFIG_DIR: "/c" } },
      "logged-in",
    ],
    [
      "those of another directory",
      { files: { "/home/user/.claude/.credentials.json": oauth }, environment: { CLAUDE_CONFIG_DIR: "/c" } },
      "logged-out",
    ],
    ["a key of the console", { files: { "/home/user/.claude.json": '{"primaryApiKey":"sk"}' } }, "logged-in"],
    ["a helper", { files: { "/home/user/.claude/settings.json": '{"apiKeyHelper":"x"}' } }, "logged-in"],
    ["Bedrock", { environment: { CLAUDE_CODE_USE_BEDROCK: "1" } }, "unknown"],
    ["no home", { environment: { HOME: "" } }, "unknown"],
  ])("%s", (_what, world, status) => expect(ask(claude, world)).toBe(status));
});

describe("gemini", () => {
  const chosen = '{"security":{"auth":{"selectedType":"gemini-api-key"}}}';
  test.each<[string, World, Login["status"]]>([
    ["nothing", {}, "logged-out"],
    ["a key", { environment: { GEMINI_API_KEY: "k" } }, "logged-in"],
    ["a key in its .env", { files: { "/home/user/.gemini/.env": "A=b\nGEMINI_API_KEY=k\n" } }, "logged-in"],
    ["a key in the project's .env", { files: { "/work/.env": "export GEMINI_API_KEY=k" } }, "logged-in"],
    ["an .env without one", { files: { "/work/.env": "GEMINI_API_KEY=\nX=1" } }, "logged-out"],
    ["Google's log-in", { files: { "/home/user/.gemini/oauth_creds.json": '{"refresh_token":"t"}' } }, "logged-in"],
    ["a way that was chosen, and no key to see", { files: { "/home/user/.gemini/settings.json": chosen } }, "unknown"],
    ["Vertex", { environment: { GOOGLE_GENAI_USE_VERTEXAI: "true" } }, "unknown"],
  ])("%s", (_what, world, status) => expect(ask(gemini, world)).toBe(status));
});
