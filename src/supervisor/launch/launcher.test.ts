/** Whether an agent is told of Reeve's MCP server (decision 37), and is to be reminded to remember (decision 70). */
import { expect, test } from "vitest";
import { makeLaunch } from "../../agent/agent-fixture.ts";
import type { Agent, LaunchContext } from "../../agent/contract.ts";
import type { McpServer } from "../../agent/mcp-server.ts";
import { inertRuntime } from "../../runtime/inert-runtime.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { agentWith } from "../attention/watch-fixture.ts";
import { createLauncher, type Launcher } from "./launcher.ts";
import { noOptions } from "./settings.ts";

const mcp: McpServer = { command: ["/reeve", "mcp"], variables: ["REEVE_PASS"], readOnlyTools: ["list_sessions"] };

const MODE = { name: "hooks", text: "Watched." };

test.each([
  { what: "is reminded", role: "writer", reminds: true, text: /^Watched\. When a turn ends .* reminds it, once/ },
  { what: "cannot be", role: "writer", reminds: false, text: /^Watched\. It is not reminded to remember .* needs / },
  { what: "is not to be", role: "reader", reminds: false, text: /^Watched\.$/ },
])("one that $what", async ({ role, reminds, text }) => {
  let context: LaunchContext | undefined;
  const launcher = launcherOf(
    agentWith({
      plan: (given) => {
        context = given;
        return {
          argv: ["/bin/true"],
          environment: {},
          files: [],
          nativeId: null,
          transcriptPath: null,
          observabilityReason: "",
          isPromptLeftOut: false,
          mode: MODE,
          channel: null,
          statusDir: null,
          ...(reminds ? { reminds: true } : {}),
        };
      },
    }),
    true,
  );
  const { recorded } = await launcher({ ...REQUEST, role, launch: makeLaunch() });
  expect(recorded.watch.text).toMatch(text);
  expect(context?.reminds === true).toBe(role === "writer");
});

test.each([
  { what: "by default", asked: true, allowed: true, told: mcp },
  { what: "after --no-mcp", asked: false, allowed: true, told: null },
  { what: "with mcp = false in the settings", asked: true, allowed: false, told: null },
])("$what", async ({ asked, allowed, told }) => {
  let context: LaunchContext | undefined;
  const agent = agentWith({
    plan: (given) => {
      context = given;
      throw new Error("seen");
    },
  });
  const launcher = launcherOf(agent, allowed);
  await expect(launcher({ ...REQUEST, launch: makeLaunch({ mcp: asked }) })).rejects.toThrow("seen");
  expect(context?.mcp).toEqual(told);
});

const REQUEST = {
  agent: "inline",
  runtime: "none",
  sessionId: "s",
  outputsDir: "/o",
  beginning: { resume: null, prompt: null },
} as const;

function launcherOf(agent: Agent, allowed: boolean): Launcher {
  return createLauncher({
    agent: () => agent,
    runtime: () => ({ ...inertRuntime("none", ""), files: localFiles }),
    options: () => ({ ...noOptions, mcp: allowed }),
    programs: { find: async () => null },
    socketDir: "/run",
    mcp,
    captureAddress: () => "http://127.0.0.1:1/key/model",
    upstreams: () => ({}),
    isReminded: ({ role }) => role === "writer",
    requireRules: async () => undefined,
    requireConfigured: () => undefined,
  });
}
