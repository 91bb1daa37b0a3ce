/** Reeve's MCP server in the plans of the agents that can be given one (decision 37). */
import { describe, expect, test } from "vitest";
import { makeContext, makeLaunch } from "./agent-fixture.ts";
import { claudeAgent } from "./claude/claude-agent.ts";
import { codexAgent } from "./codex/codex-agent.ts";
import type { Agent, LaunchContext, LaunchPlan } from "./contract.ts";
import { geminiAgent } from "./gemini/gemini-agent.ts";
import type { McpServer } from "./mcp-server.ts";

const mcp: McpServer = {
  command: ["/opt/node", "/opt/reeve/bin/reeve", "mcp"],
  variables: ["REEVE_PASS", "REEVE_SOCKET", "REEVE_HOME"],
  readOnlyTools: ["list_sessions", "wait_for_session"],
};
const THEIRS = { command: "other" };
const REGISTERED = { command: "/usr/bin/reeve", args: ["mcp"] };
const codex = codexAgent({ bootstrapPath: "/dist/bootstrap.js", nodePath: "/opt/node" });
const hooks = { settings: { mode: "hooks" } } as const;

type Changes = Partial<LaunchContext> & { readonly files?: Readonly<Record<string, unknown>> };

function planOf(agent: Agent, { files = {}, ...changes }: Changes = {}): LaunchPlan {
  const launch = changes.launch ?? makeLaunch({ paths: { HOME: "/u" } });
  const read = (path: string): string | null => {
    const file = files[path];
    return file === undefined ? null : typeof file === "string" ? file : JSON.stringify(file);
  };
  return agent.plan(makeContext({ mcp, read, ...changes, launch }));
}

function fileOf(plan: LaunchPlan, name: string): string | undefined {
  return plan.files.find(({ path }) => path.endsWith(name))?.content;
}

/** What the plan gives the agent: arguments and files, as one text. */
function wholeOf(plan: LaunchPlan): string {
  return [...plan.argv, JSON.stringify(plan.environment), ...plan.files.map(({ content }) => content)].join("\n");
}

test("claude: a file of its own, and what changes nothing is allowed by name, behind the user's own rules", () => {
  const launch = makeLaunch({ args: ["--settings", '{"permissions":{"allow":["Bash(ls)"],"deny":["Read"]}}'] });
  const plan = planOf(claudeAgent, { launch });
  expect(plan.argv).toContain("--mcp-config=/h/s-1/claude-mcp.json");
  expect(plan.argv).not.toContain("--strict-mcp-config");
  expect(JSON.parse(fileOf(plan, "claude-mcp.json") ?? "")).toEqual({
    mcpServers: {
      reeve: {
        type: "stdio",
        command: "/opt/node",
        args: ["/opt/reeve/bin/reeve", "mcp"],
        env: { REEVE_MCP_READY: "/h/s-1/tools-ready" },
      },
    },
  });
  expect(JSON.parse(fileOf(plan, "claude-settings.json") ?? "")).toMatchObject({
    permissions: {
      allow: ["Bash(ls)", "mcp__reeve__list_sessions", "mcp__reeve__wait_for_session"],
      deny: ["Read"],
    },
  });
});

test("claude: no prompt is taken before Reeve's tools are there; without them nothing waits", () => {
  const hooksOf = (plan: LaunchPlan): string =>
    JSON.stringify((JSON.parse(fileOf(plan, "claude-settings.json") ?? "") as { hooks: object }).hooks);
  const plan = planOf(claudeAgent);
  expect(fileOf(plan, "await-tools.sh")).toContain("#!/bin/sh");
  expect(hooksOf(plan).split("/h/s-1/await-tools.sh")).toHaveLength(2);
  const without = planOf(claudeAgent, { mcp: null });
  expect([fileOf(without, "await-tools.sh"), hooksOf(without).includes("await-tools")]).toEqual([undefined, false]);
});

const FLAGS = [
  'mcp_servers.reeve.command="/opt/node"',
  'mcp_servers.reeve.args=["/opt/reeve/bin/reeve","mcp"]',
  'mcp_servers.reeve.env_vars=["REEVE_PASS","REEVE_SOCKET","REEVE_HOME"]',
];

test("codex with hooks: three settings, before the user's own", () => {
  const launch = makeLaunch({ args: ["-c", "model_reasoning_effort=low"] });
  const { argv } = planOf(codex, { ...hooks, launch });
  const at = FLAGS.map((flag) => argv.indexOf(flag));
  expect(at).not.toContain(-1);
  expect(Math.max(...at)).toBeLessThan(argv.indexOf("model_reasoning_effort=low"));
});

test("codex with its app-server: for the server, which runs the turns, and not for the screen", () => {
  const script = fileOf(planOf(codex), "codex-pane.sh") ?? "";
  const server = script.split("\n").find((line) => line.includes("--listen")) ?? "";
  for (const flag of FLAGS) expect(server).toContain(flag);
  expect(script.split("mcp_servers.reeve.command")).toHaveLength(2);
});

test("codex: a server of that name on the command line is theirs; a setting for it goes with ours", () => {
  const withArgs = (setting: string): LaunchPlan =>
    planOf(codex, { ...hooks, launch: makeLaunch({ args: ["-c", setting] }) });
  expect(withArgs('mcp_servers.reeve.url="http://x"').argv).not.toContain(FLAGS[0]);
  expect(withArgs('mcp_servers.reeve={command="x"}').argv).not.toContain(FLAGS[0]);
  expect(withArgs("mcp_servers.reeve.default_tools_approval_mode=prompt").argv).toContain(FLAGS[0]);
});

test.each([
  ["codex", {}],
  ["codex with hooks", hooks],
])("%s: one that is registered is switched off where the session does without", (_name, changes) => {
  const files = { "/u/.codex/config.toml": '[mcp_servers.reeve]\ncommand = "/usr/bin/reeve"\nargs = ["mcp"]\n' };
  expect(wholeOf(planOf(codex, { ...changes, mcp: null, files }))).toContain("mcp_servers.reeve.enabled=false");
  expect(wholeOf(planOf(codex, { ...changes, mcp: null }))).not.toContain("enabled=false");
});

test("gemini: in the session's settings, with a policy beside the user's own policies", () => {
  const files = { "/u/.gemini/settings.json": { mcpServers: { theirs: THEIRS } } };
  const plan = planOf(geminiAgent, { files });
  expect(JSON.parse(fileOf(plan, "/settings.json") ?? "")).toMatchObject({
    mcpServers: {
      theirs: THEIRS,
      reeve: {
        command: "/opt/node",
        args: ["/opt/reeve/bin/reeve", "mcp"],
        env: { REEVE_PASS: "$REEVE_PASS", REEVE_SOCKET: "$REEVE_SOCKET" },
      },
    },
    policyPaths: ["/h/s-1/reeve-gemini-home/.gemini/policies", "/h/s-1/gemini-policy.toml"],
  });
  expect(fileOf(plan, "gemini-policy.toml")).toContain("readOnlyHint = true");
  const chosen = planOf(geminiAgent, { files: { "/u/.gemini/settings.json": { policyPaths: ["/p"] } } });
  expect(JSON.parse(fileOf(chosen, "/settings.json") ?? "")).toMatchObject({
    policyPaths: ["/p", "/h/s-1/gemini-policy.toml"],
  });
});

const AGENTS: readonly { name: string; agent: Agent; changes: Changes; holders: readonly Holder[] }[] = [
  {
    name: "claude",
    agent: claudeAgent,
    changes: {},
    holders: [
      ["/u/.claude.json", (entry) => ({ mcpServers: { reeve: entry } })],
      ["/u/.claude.json", (entry) => ({ projects: { "/w": { mcpServers: { reeve: entry } } } })],
      ["/w/.mcp.json", (entry) => ({ mcpServers: { reeve: entry } })],
    ],
  },
  { name: "codex", agent: codex, changes: {}, holders: tomlHolders() },
  { name: "codex with hooks", agent: codex, changes: hooks, holders: tomlHolders() },
  {
    name: "gemini",
    agent: geminiAgent,
    changes: {},
    holders: [
      ["/u/.gemini/settings.json", (entry) => ({ mcpServers: { reeve: entry } })],
      ["/w/.gemini/settings.json", (entry) => ({ mcpServers: { reeve: entry } })],
    ],
  },
];

type Holder = readonly [path: string, content: (entry: object) => unknown];

function tomlHolders(): readonly Holder[] {
  const table = (entry: object): string =>
    ["[mcp_servers.reeve]", ...Object.entries(entry).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)].join(
      "\n",
    );
  return [
    ["/u/.codex/config.toml", table],
    ["/w/.codex/config.toml", table],
  ];
}

describe.each(AGENTS)("$name", ({ agent, changes, holders }) => {
  test("without it there is no trace of it", () => {
    const whole = wholeOf(planOf(agent, { ...changes, mcp: null }));
    expect(whole).not.toContain("/opt/reeve");
    expect(whole).not.toContain("policyPaths");
    expect(whole).not.toContain("mcp__reeve");
  });

  test.each(holders)("another server of that name, in %s, is theirs to keep, and that is said", (path, content) => {
    const theirs = planOf(agent, { ...changes, files: { [path]: content(THEIRS) } });
    expect(wholeOf(theirs)).not.toContain("/opt/reeve");
    expect(theirs.mode.text).toMatch(
      /It does not have Reeve's MCP server, because you have another one called reeve\.$/,
    );
    const registered = planOf(agent, { ...changes, files: { [path]: content(REGISTERED) } });
    expect(wholeOf(registered)).toContain("/opt/reeve/bin/reeve");
    expect(registered.mode.text).not.toContain("MCP");
  });
});
