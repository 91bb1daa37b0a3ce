import { isatty } from "node:tty";
import { callerEnvironment } from "../caller-environment.ts";
import type { CliCommand } from "../command.ts";
import { versionOf } from "../version.ts";

export const mcpCommand: CliCommand = {
  name: "mcp",
  summary: "serve Reeve to an agent over MCP, on stdin and stdout",
  arguments: [],
  options: [],
  notes: [
    "Register this command as an MCP server (stdio) with your agent. Each agent starts its own, and it ends when the agent closes it.",
    "Inside a session it acts for that session: on itself and on what it started. Elsewhere it acts for you.",
    "stdout carries only the protocol. What you should know is on stderr.",
  ],
  examples: [
    { line: "claude mcp add reeve -- reeve mcp", does: "let Claude Code use Reeve" },
    { line: "codex mcp add reeve -- reeve mcp", does: "let Codex use Reeve" },
    { line: "gemini mcp add reeve reeve mcp", does: "let Gemini CLI use Reeve" },
  ],
  handsOver: true,

  async run(_input, context) {
    const [{ serveOverStdio }, { clientBackend }, { sessionAround }] = await Promise.all([
      import("../../mcp/stdio.ts"),
      import("../../mcp/client-backend.ts"),
      import("../../mcp/session-around.ts"),
    ]);
    if (isatty(0)) context.output.note("This speaks MCP on stdin and stdout, for an agent: see reeve mcp --help.");
    const environment = { ...context.environment, ...sessionAround(context.environment, process.ppid) };
    const backend = clientBackend({
      client: (onUnreadMail) => context.client({ onUnreadMail, isChecked: true, environment }),
      environment: callerEnvironment({ environment }),
      cwd: () => context.cwd(),
      note: (what, error) =>
        context.output.note(`reeve mcp: ${what}: ${error instanceof Error ? error.message : String(error)}`),
    });
    await serveOverStdio(backend, versionOf(context.root));
    return 0;
  },
};
