/** Whether an agent is told of Reeve's MCP server (decision 37). */
import { expect, test } from "vitest";
import { makeLaunch } from "../../agent/agent-fixture.ts";
import type { LaunchContext } from "../../agent/contract.ts";
import type { McpServer } from "../../agent/mcp-server.ts";
import { inertRuntime } from "../../runtime/inert-runtime.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { agentWith } from "../attention/watch-fixture.ts";
import { createLauncher } from "./launcher.ts";
import { noOptions } from "./settings.ts";

const mcp: McpServer = { command: ["/reeve", "mcp"], variables: ["REEVE_PASS"], readOnlyTools: ["list_sessions"] };

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
  const launcher = createLauncher({
    agent: () => agent,
    runtime: () => ({ ...inertRuntime("none", ""), files: localFiles }),
    options: () => ({ ...noOptions, mcp: allowed }),
    programs: { find: async () => null },
    socketDir: "/run",
    mcp,
    requireRules: async () => undefined,
    requireConfigured: () => undefined,
  });
  const launch = makeLaunch({ mcp: asked });
  const request = { agent: "inline", runtime: "none", sessionId: "s", outputsDir: "/o", launch };
  await expect(launcher({ ...request, beginning: { resume: null, prompt: null } })).rejects.toThrow("seen");
  expect(context?.mcp).toEqual(told);
});
