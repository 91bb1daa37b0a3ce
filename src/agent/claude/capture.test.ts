/** How Claude Code is captured: its plans, what it writes itself, and what headers say of limits. */
import { describe, expect, test } from "vitest";
import { makeContext, makeLaunch } from "../agent-fixture.ts";
import type { LaunchContext } from "../contract.ts";
import { planLaunch } from "./launch-plan.ts";
import { readLimitHeaders } from "./limit-headers.ts";
import { claudeNative } from "./native-capture.ts";

const NATIVE = { how: "native", nativeDir: "/h/s-1/native", baseUrl: null, debugLog: null } as const;
const PROXY = {
  ...NATIVE,
  how: "proxy",
  baseUrl: (name: string) => `http://127.0.0.1:7/key/${name}`,
} as const satisfies LaunchContext["capture"];

type Files = Readonly<Record<string, string>>;

function contextOf(
  capture: LaunchContext["capture"],
  paths: Readonly<Record<string, string>> = {},
  files: Files = {},
): LaunchContext {
  const launch = makeLaunch({ paths: { HOME: "/u", ...paths } });
  return makeContext({ launch, capture, read: (path) => files[path] ?? null });
}

function settingsIn(context: LaunchContext): unknown {
  const file = planLaunch(context).files.find(({ path }) => path.endsWith("claude-settings.json"));
  return (JSON.parse(file?.content ?? "null") as { readonly env?: unknown }).env;
}

describe("native", () => {
  test("one variable, and nothing else", () => {
    const plan = planLaunch(contextOf(NATIVE));
    expect(plan.environment).toEqual({ OTEL_LOG_RAW_API_BODIES: "file:/h/s-1/native" });
    expect(plan.capture).toEqual({ switchedOff: [], upstreams: {} });
    expect(settingsIn(contextOf(NATIVE))).toBeUndefined();
  });

  test("what the user has set stays as it is, and that is said", () => {
    const own = { "/u/.claude/settings.json": '{"env":{"OTEL_LOG_RAW_API_BODIES":"1"}}' };
    for (const context of [contextOf(NATIVE, { OTEL_LOG_RAW_API_BODIES: "file:/mine" }), contextOf(NATIVE, {}, own)]) {
      const plan = planLaunch(context);
      expect(plan.environment).toEqual({});
      expect(plan.capture?.switchedOff).toEqual([
        "Requests to the model are not captured: you have set OTEL_LOG_RAW_API_BODIES, and Reeve leaves it as it is. Use --capture proxy instead.",
      ]);
    }
  });

  test("without capture nothing differs", () => {
    const { capture, environment } = planLaunch(contextOf(null));
    expect({ capture, environment }).toEqual({ capture: undefined, environment: {} });
  });
});

describe("proxy", () => {
  test("instead of Anthropic's own address: tool search stays on, and what is off is said", () => {
    const plan = planLaunch(contextOf(PROXY, { NO_PROXY: "intern" }));
    const variables = { ANTHROPIC_BASE_URL: "http://127.0.0.1:7/key/anthropic", ENABLE_TOOL_SEARCH: "true" };
    expect(plan.environment).toEqual({ ...variables, NO_PROXY: "intern,127.0.0.1" });
    expect(settingsIn(contextOf(PROXY))).toEqual(variables);
    expect(plan.capture).toMatchObject({ upstreams: { anthropic: "https://api.anthropic.com" } });
    expect(plan.capture?.switchedOff).toHaveLength(2);
  });

  test("the nearest of the user's own addresses is the upstream, and changes nothing else", () => {
    const paths = { ANTHROPIC_BASE_URL: "https://env.example/" };
    const user = { "/u/.claude/settings.json": '{"env":{"ANTHROPIC_BASE_URL":"https://user.example/a"}}' };
    const project = { ...user, "/w/.claude/settings.json": '{"env":{"ANTHROPIC_BASE_URL":"https://project.example"}}' };
    const planOf = (files: Files) => planLaunch(contextOf(PROXY, paths, files));
    expect(planOf({}).capture).toEqual({ switchedOff: [], upstreams: { anthropic: "https://env.example" } });
    expect(planOf(user).capture?.upstreams).toEqual({ anthropic: "https://user.example/a" });
    expect(planOf(project).capture?.upstreams).toEqual({ anthropic: "https://project.example" });
    expect(planOf({}).environment).not.toHaveProperty("ENABLE_TOOL_SEARCH");
  });

  test.each([
    ["ftp://x", "ANTHROPIC_BASE_URL is not an http or https URL: correct it, or leave --capture proxy out."],
    ["not a url", "ANTHROPIC_BASE_URL is not an http or https URL: correct it, or leave --capture proxy out."],
    ["https://me:word@x", /^ANTHROPIC_BASE_URL holds a user name or password/],
    ["https://x?key=1", /^ANTHROPIC_BASE_URL has a query/],
  ])("%s is refused with what to do", (url, message) => {
    expect(() => planLaunch(contextOf(PROXY, { ANTHROPIC_BASE_URL: url }))).toThrow(message);
    expect(() => planLaunch(contextOf(NATIVE, { ANTHROPIC_BASE_URL: url }))).not.toThrow();
  });

  test("another vendor's models and an administrator's address are refused", () => {
    expect(() => planLaunch(contextOf(PROXY, { CLAUDE_CODE_USE_BEDROCK: "1" }))).toThrow(/use --capture native\.$/);
    const managed = { "/etc/claude-code/managed-settings.json": '{"env":{"ANTHROPIC_BASE_URL":"https://x"}}' };
    expect(() => planLaunch(contextOf(PROXY, {}, managed))).toThrow(/^The managed settings in/);
  });
});

describe("what it writes", () => {
  const bodies: Files = {
    "r1.request.json": '{"model":"m"}',
    "a1.response.json": '{"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}',
  };
  const line = JSON.stringify({
    timestamp: "2026-11-17T14:44:30.711Z",
    model: "m",
    request_file: "r1.request.json",
    response_file: "a1.response.json",
  });
  const read = (files: Files) => claudeNative.readLine("index.jsonl", line, (name) => files[name] ?? null);

  test("a line of the index makes a whole exchange", () => {
    const tale = read(bodies);
    expect(tale?.spent).toEqual(["r1.request.json", "a1.response.json"]);
    expect(tale?.lines.map(({ kind, exchange }) => `${exchange} ${kind}`)).toEqual([
      "r1 request",
      "r1 response-head",
      "r1 chunk",
      "r1 end",
    ]);
    expect(tale?.lines.at(-1)?.fields).toMatchObject({
      model: "m",
      usage: { input_tokens: 5, output_tokens: 1, cached_tokens: 2 },
    });
  });

  test("a request alone is told at once, and an answer that is not whole is waited for", () => {
    expect(claudeNative.readBody("r1.request.json", '{"mod', 5)).toBeNull();
    expect(claudeNative.readBody("a1.response.json", "{}", 5)).toBeNull();
    expect(claudeNative.readBody("r1.request.json", "{}", 5)).toMatchObject({ lines: [{ at: 5 }] });
    expect(read({ ...bodies, "a1.response.json": '{"usa' })).toBeNull();
    expect(read({ "r1.request.json": "{}" })).toBeNull();
    expect(claudeNative.readLine("index.jsonl", '{"response_file":"../x"}', () => "{}")).toEqual({
      lines: [],
      spent: [],
    });
  });
});

describe("headers", () => {
  const unified = "anthropic-ratelimit-unified-";
  test("a rejection with its reset, windows with what is used, and nothing without them", () => {
    const rejected = { [`${unified}status`]: "rejected", [`${unified}reset`]: "1800000000" };
    expect(readLimitHeaders(rejected, { status: 429, at: 1 })).toMatchObject([
      { limit: "usage", status: "rejected", resetsAt: 1_800_000_000_000, confidence: "stated", at: 1 },
    ]);
    const used = {
      [`${unified}status`]: "allowed",
      [`${unified}5h-utilization`]: "0.83",
      [`${unified}5h-reset`]: "1800000000",
    };
    expect(readLimitHeaders(used, { status: 200, at: 1 })).toMatchObject([
      { limit: "5h", status: "warning", usedPercent: 83 },
    ]);
    expect(readLimitHeaders({ "retry-after": "3" }, { status: 429, at: 1 })).toEqual([]);
  });
});
