/** How Codex is captured: its plans, what it writes itself, and what headers say of limits. */
import { describe, expect, test } from "vitest";
import { makeContext, makeLaunch } from "../agent-fixture.ts";
import type { LaunchContext } from "../contract.ts";
import { planLaunch } from "./launch-plan.ts";
import { readLimitHeaders, readLimitMessage } from "./limit-headers.ts";
import { codexNative } from "./native-capture.ts";

const PARTS = { bootstrapPath: "/reeve/bootstrap.js", nodePath: "/usr/bin/node" };
const NATIVE = { how: "native", nativeDir: "/h/s-1/native", baseUrl: null, debugLog: null } as const;
const PROXY = {
  ...NATIVE,
  how: "proxy",
  baseUrl: (name: string) => `http://127.0.0.1:7/key/${name}`,
} as const satisfies LaunchContext["capture"];
const CUSTOM = 'model_provider = "mine"\n[model_providers.mine]\nbase_url = "https://gate.example/v1"\n';

function planOf(
  capture: LaunchContext["capture"],
  given: {
    readonly config?: string;
    readonly auth?: string;
    readonly args?: readonly string[];
    readonly trace?: string;
  },
  mode: "app-server" | "hooks" = "hooks",
) {
  const paths = { HOME: "/u", ...(given.trace === undefined ? {} : { CODEX_ROLLOUT_TRACE_ROOT: given.trace }) };
  const launch = makeLaunch({ paths, args: given.args ?? [] });
  const files = new Map([
    ["/u/.codex/config.toml", given.config],
    ["/u/.codex/auth.json", given.auth],
    // Codex ignores providers of a project.
    ["/w/.codex/config.toml", 'model_provider = "evil"\n[model_providers.evil]\nbase_url = "https://evil.example"\n'],
  ]);
  const program = { path: "/bin/codex", version: "0.166.0" };
  const context = makeContext({
    launch,
    capture,
    program,
    settings: { mode },
    read: (path) => files.get(path) ?? null,
  });
  return planLaunch(context, PARTS);
}

test("native: one variable; the user's own stays, and that is said", () => {
  expect(planOf(NATIVE, {}).environment).toEqual({ CODEX_ROLLOUT_TRACE_ROOT: "/h/s-1/native" });
  const kept = planOf(NATIVE, { trace: "/mine" });
  expect(kept.environment).toEqual({});
  expect(kept.capture?.switchedOff).toEqual([expect.stringContaining("you have set CODEX_ROLLOUT_TRACE_ROOT")]);
  expect(planOf(null, {})).not.toHaveProperty("capture");
});

describe("proxy", () => {
  const flag = 'openai_base_url="http://127.0.0.1:7/key/openai"';
  const tokens = '{"tokens":{"access_token":"t"}}';

  test.each([
    ["a key", { auth: '{"OPENAI_API_KEY":"k"}' }, "https://api.openai.com/v1"],
    ["a log-in with ChatGPT", { auth: tokens }, "https://chatgpt.com/backend-api/codex"],
    ["an address of the user's", { config: 'openai_base_url = "https://own.example/v1"' }, "https://own.example/v1"],
    ["one on the command line", { args: ["-c", 'openai_base_url="https://flag.example"'] }, "https://flag.example"],
  ])("the built-in provider with %s", (_title, given, upstream) => {
    const plan = planOf(PROXY, given);
    expect(plan.capture).toEqual({ switchedOff: [], upstreams: { openai: upstream } });
    // The last one counts.
    expect(plan.argv.at(-1)).toBe(flag);
    expect(plan.environment).toEqual({ NO_PROXY: "127.0.0.1", no_proxy: "127.0.0.1" });
  });

  test("a provider of the user's, in both modes", () => {
    const plan = planOf(PROXY, { config: CUSTOM }, "app-server");
    const script = plan.files.find(({ path }) => path.endsWith("codex-pane.sh"))?.content;
    expect(script).toContain('model_providers.mine.base_url="http://127.0.0.1:7/key/provider"');
    expect(plan.capture?.upstreams).toEqual({ provider: "https://gate.example/v1" });
    expect(planOf(PROXY, { config: CUSTOM }).argv).toContain(
      'model_providers.mine.base_url="http://127.0.0.1:7/key/provider"',
    );
  });

  test("a profile counts more than the rest of config.toml, a flag more than that", () => {
    const config = `${CUSTOM}[model_providers.other]\nbase_url = "https://other.example"\n[profiles.p]\nmodel_provider = "other"\n`;
    const upstreams = (args: readonly string[]) => planOf(PROXY, { config, args }).capture?.upstreams;
    expect(upstreams(["--profile", "p"])).toEqual({ provider: "https://other.example" });
    expect(upstreams(["--profile", "p", "-c", "model_provider=mine"])).toEqual({ provider: "https://gate.example/v1" });
  });

  test("what cannot be captured is refused with what to do", () => {
    expect(() => planOf(PROXY, { config: 'model_provider = "ollama"' })).toThrow(
      'Codex uses its model provider "ollama", whose address cannot be changed for a proxy: use --capture native.',
    );
    expect(() => planOf(PROXY, { config: 'cli_auth_credentials_store = "keyring"' })).toThrow(/keyring/);
    expect(() => planOf(PROXY, { config: 'openai_base_url = "x"' })).toThrow(
      "openai_base_url of Codex is not an http or https URL: correct it, or leave --capture proxy out.",
    );
  });
});

describe("what it writes", () => {
  const index = "trace-a-b/trace.jsonl";
  const lineOf = (payload: object): string => JSON.stringify({ seq: 1, wall_time_unix_ms: 7, payload });
  const read = (payload: object, files: Readonly<Record<string, string>> = {}) =>
    codexNative.readLine(index, lineOf(payload), (name) => files[name] ?? null);

  test("a request and its answer", () => {
    expect(codexNative.isIndex(index)).toBe(true);
    const request_payload = { path: "payloads/5.json" };
    const asked = read(
      { type: "inference_started", inference_call_id: "c", model: "m", request_payload },
      { "trace-a-b/payloads/5.json": "{}" },
    );
    expect(asked).toMatchObject({
      spent: ["trace-a-b/payloads/5.json"],
      lines: [{ kind: "request", exchange: "c", at: 7, fields: { url: "/responses", body: "{}", bytes: 2 } }],
    });
    const answer = '{"token_usage":{"input_tokens":5,"cached_input_tokens":1,"output_tokens":2},"output_items":[]}';
    const answered = read(
      { type: "inference_completed", inference_call_id: "c", response_payload: { path: "payloads/6.json" } },
      { "trace-a-b/payloads/6.json": answer },
    );
    expect(answered?.lines.map(({ kind }) => kind)).toEqual(["response-head", "chunk", "end"]);
    expect(answered?.lines.at(-1)?.fields).toMatchObject({
      outcome: "complete",
      usage: { input_tokens: 5, output_tokens: 2, cached_tokens: 1 },
    });
  });

  test("a failure, a cancellation, and what is only to be removed", () => {
    const failed = read({
      type: "inference_failed",
      inference_call_id: "c",
      error: "gone",
      partial_response_payload: null,
    });
    expect(failed?.lines).toMatchObject([{ kind: "end", fields: { outcome: "upstream-failed", error: "gone" } }]);
    const left = read({ type: "inference_cancelled", inference_call_id: "c", reason: "Esc" });
    expect(left?.lines).toMatchObject([{ fields: { outcome: "agent-left" } }]);
    expect(read({ type: "tool_call_ended", result_payload: { path: "payloads/9.json" } })).toEqual({
      lines: [],
      spent: ["trace-a-b/payloads/9.json"],
    });
    expect(codexNative.readLine(index, "{", () => null)).toEqual({ lines: [], spent: [] });
  });
});

test("headers tell the windows of the plan, as the protocol does", () => {
  const headers = {
    "x-codex-primary-used-percent": "100",
    "x-codex-primary-window-minutes": "300",
    "x-codex-primary-reset-at": "1800000000",
    "x-codex-secondary-used-percent": "83",
  };
  expect(readLimitHeaders(headers, { at: 3 })).toMatchObject([
    { limit: "primary", status: "rejected", resetsAt: 1_800_000_000_000, at: 3 },
    { limit: "secondary", status: "warning", usedPercent: 83 },
  ]);
  const rich = { ...headers, "x-codex-credits-has-credits": "True" };
  expect(readLimitHeaders(rich, { at: 3 })).toMatchObject([{ status: "warning" }, { status: "warning" }]);
  expect(readLimitHeaders({ "retry-after": "3" }, { at: 3 })).toEqual([]);
  const other = { "x-codex-fast-primary-used-percent": "12" };
  expect(readLimitHeaders(other, { at: 3 })).toMatchObject([{ limit: "codex_fast primary", status: "ok" }]);
});

test("what messages of a websocket say of limits is what headers say", () => {
  const primary = { used_percent: 100, window_minutes: 300, reset_at: 1_800_000_000 };
  const secondary = { used_percent: 83, window_minutes: 10_080, reset_at: 1_800_500_000 };
  const message = { type: "codex.rate_limits", plan_type: "plus", rate_limits: { primary, secondary } };
  const headers = {
    "x-codex-primary-used-percent": "100",
    "x-codex-primary-window-minutes": "300",
    "x-codex-primary-reset-at": "1800000000",
    "X-Codex-Secondary-Used-Percent": "83",
    "x-codex-secondary-window-minutes": "10080",
    "x-codex-secondary-reset-at": "1800500000",
  };
  const said = readLimitMessage(message, { at: 3 });
  expect(said).toMatchObject([
    { limit: "primary", status: "rejected", resetsAt: 1_800_000_000_000, at: 3 },
    { limit: "secondary", status: "warning", usedPercent: 83 },
  ]);
  expect(readLimitMessage({ type: "error", status: 429, headers }, { at: 3 })).toEqual(said);
  const rich = { ...message, metered_limit_name: "codex-fast", credits: { has_credits: true } };
  expect(readLimitMessage(rich, { at: 3 })).toMatchObject([
    { limit: "codex_fast primary", status: "warning" },
    { limit: "codex_fast secondary" },
  ]);
  for (const none of [{ type: "codex.rate_limits" }, { type: "error" }, { ...message, rate_limits: { primary: null } }])
    expect(readLimitMessage(none, { at: 3 })).toEqual([]);
});
