// Plays the user's own configuration: a HOME in which a real agent starts without dialogs against the scripted model.
// Holds dummy keys only. Updates, telemetry and everything else that would leave loopback is off.

import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathWithAgents } from "../agent-programs/agent-programs.ts";

export interface AgentHomeOptions {
  /** Directories in which the agent may work without asking. */
  readonly trust?: readonly string[];
  /** False: none of them is trusted, so that the trust dialog appears. Codex 0.166.0 shows it only where there is a git repository or a `.codex`. */
  readonly trusted?: boolean;
  /** False: there is no key, so that the login dialog appears. */
  readonly loggedIn?: boolean;
}

export interface ClaudeHomeOptions extends AgentHomeOptions {
  /** False: the key is there, but a dialog asks whether to use it. Without a key there is only a line on the screen. */
  readonly keyApproved?: boolean;
  /** True: logged in to a (made-up) claude.ai plan instead of with a key, as only then it reads the limits of a plan. */
  readonly plan?: boolean;
  /** `default` asks before a command that writes. Left to itself, 2.1.325 starts in `auto`, whose check no model here does. */
  readonly permissionMode?: "default" | "acceptEdits" | "plan" | "auto" | "bypassPermissions";
}

export interface CodexHomeOptions extends AgentHomeOptions {
  /** OpenAI's own provider instead of one of the user's, logged in as `codex login` does it: with a key, or with ChatGPT. */
  readonly openai?: { readonly key: string } | { readonly accessToken: string };
}

export interface AgentHome {
  /** The whole environment, not an addition to one. */
  readonly environment: Record<string, string>;
}

const key = "sk-ant-scripted-dummy-key-0000000000";

export async function codexHome(home: string, modelUrl: string, options: CodexHomeOptions = {}): Promise<AgentHome> {
  const { loggedIn = true, openai } = options;
  const isOwn = loggedIn && openai === undefined;
  const provider = [
    `model_provider = "scripted"`,
    ``,
    `[model_providers.scripted]`,
    `name = "Scripted model"`,
    `base_url = ${JSON.stringify(`${modelUrl}/v1`)}`,
    `env_key = "SCRIPTED_MODEL_KEY"`,
    `wire_api = "responses"`,
  ];
  const lines = [
    `model = "scripted"`,
    `check_for_update_on_startup = false`,
    ...(isOwn ? provider : [`openai_base_url = ${JSON.stringify(`${modelUrl}/v1`)}`]),
    // Where it asks about the account of a log-in with ChatGPT.
    ...(openai === undefined ? [] : [`chatgpt_base_url = ${JSON.stringify(`${modelUrl}/backend-api`)}`]),
    ``,
    `[analytics]`,
    `enabled = false`,
    ``,
    `[features]`,
    `apps = false`,
    `plugins = false`,
    ``,
    `[tui]`,
    `show_tooltips = false`,
    ...trustOf(options).flatMap((path) => [``, `[projects.${JSON.stringify(path)}]`, `trust_level = "trusted"`]),
  ];
  await write(join(home, ".codex/config.toml"), `${lines.join("\n")}\n`);
  if (openai !== undefined) await writeJson(join(home, ".codex/auth.json"), openaiLogin(openai));
  return {
    environment: {
      ...clean(home),
      ...(isOwn ? { SCRIPTED_MODEL_KEY: "scripted-dummy-key" } : {}),
      // The announcement that the TUI of 0.166.0 fetches from GitHub has no switch: a closed port ends it at once.
      HTTPS_PROXY: "http://127.0.0.1:9",
    },
  };
}

function openaiLogin(openai: NonNullable<CodexHomeOptions["openai"]>): object {
  if ("key" in openai) return { OPENAI_API_KEY: openai.key };
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const account = { chatgpt_plan_type: "pro", chatgpt_account_id: "account-dummy", chatgpt_user_id: "user-dummy" };
  const claims = { email: "person@example.org", "https://api.openai.com/auth": account };
  return {
    OPENAI_API_KEY: null,
    tokens: {
      id_token: `${part({ alg: "none" })}.${part(claims)}.${part({})}`,
      access_token: openai.accessToken,
      refresh_token: "refresh-dummy",
      account_id: account.chatgpt_account_id,
    },
    // Not to be renewed during a test: that would ask the vendor.
    last_refresh: new Date().toISOString(),
  };
}

export async function claudeHome(home: string, modelUrl: string, options: ClaudeHomeOptions = {}): Promise<AgentHome> {
  const { loggedIn = true, keyApproved = true, plan = false, permissionMode = "default" } = options;
  await writeJson(join(home, ".claude/settings.json"), { permissions: { defaultMode: permissionMode } });
  const projects = Object.fromEntries(trustOf(options).map((path) => [path, { hasTrustDialogAccepted: true }]));
  const approved = { customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] } };
  await writeJson(join(home, ".claude.json"), {
    hasCompletedOnboarding: true,
    hasSeenAutoDefaultNudge: true,
    hasSeenAutoDefaultNotice: true,
    hasSeenAutoModeEntryWarning: true,
    projects,
    ...(loggedIn && keyApproved && !plan ? approved : {}),
    ...(plan ? { oauthAccount: { accountUuid: "11111111-1111-4111-8111-111111111111" } } : {}),
  });
  if (plan) await writeJson(join(home, ".claude/.credentials.json"), { claudeAiOauth: madeUpLogin() });
  return {
    environment: {
      ...clean(home),
      ANTHROPIC_BASE_URL: modelUrl,
      ...(loggedIn && !plan ? { ANTHROPIC_API_KEY: key } : {}),
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: "1",
    },
  };
}

function madeUpLogin(): object {
  return {
    accessToken: "sk-ant-oat01-scripted-dummy",
    refreshToken: "sk-ant-ort01-scripted-dummy",
    // Not to be renewed during a test: that would ask the vendor.
    expiresAt: Date.now() + 86_400_000,
    scopes: ["user:inference", "user:profile"],
    subscriptionType: "max",
  };
}

export async function geminiHome(home: string, modelUrl: string, options: AgentHomeOptions = {}): Promise<AgentHome> {
  const { loggedIn = true } = options;
  await writeJson(join(home, ".gemini/settings.json"), {
    security: { folderTrust: { enabled: true }, ...(loggedIn ? { auth: { selectedType: "gemini-api-key" } } : {}) },
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
  });
  await writeJson(
    join(home, ".gemini/trustedFolders.json"),
    Object.fromEntries(trustOf(options).map((path) => [path, "TRUST_FOLDER"])),
  );
  return {
    environment: {
      ...clean(home),
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      ...(loggedIn ? { GEMINI_API_KEY: "scripted-dummy-key" } : {}),
    },
  };
}

function trustOf(options: AgentHomeOptions): readonly string[] {
  return options.trusted === false ? [] : (options.trust ?? []);
}

function clean(home: string): Record<string, string> {
  const path = pathWithAgents(process.env["PATH"] ?? "/usr/bin:/bin");
  return { PATH: path, HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color" };
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o600 });
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await write(path, `${JSON.stringify(value, null, 2)}\n`);
}
