import { closeSync, constants, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { READY_VARIABLE } from "../../../platform/mcp-registration.ts";
import { openOwnFile } from "../../../platform/own-file.ts";
import { callerEnvironment } from "../caller-environment.ts";
import type { CliCommand } from "../command.ts";
import { versionOf } from "../version.ts";

export const mcpCommand: CliCommand = {
  name: "mcp",
  summary: "serve Reeve to an agent over MCP, on stdin and stdout",
  arguments: [],
  options: [
    {
      name: "channel",
      summary: "also push what happens to the sessions it starts into Claude Code (a preview of Claude Code's)",
    },
  ],
  notes: [
    "Agents start this command themselves, each its own, and it ends when the agent closes it. Sessions of Claude Code, Codex and Gemini CLI have it; reeve init registers it with an agent that you start yourself.",
    "Inside a session it acts for that session: on itself and on what it started. Elsewhere it acts for you.",
    "stdout carries only the protocol. What you should know is on stderr.",
  ],
  examples: [
    { line: "claude mcp add reeve -- reeve mcp", does: "what reeve init claude does" },
    { line: "claude mcp add reeve -- reeve mcp --channel", does: "also wake it; start Claude Code with --channels" },
  ],
  handsOver: true,

  async run(input, context) {
    const [{ createLineTransport }, { earlyAnswers }, { clientBackend }, { sessionAround }] = await Promise.all([
      import("../../mcp/line-transport.ts"),
      import("../../mcp/early-answers.ts"),
      import("../../mcp/client-backend.ts"),
      import("../../mcp/session-around.ts"),
    ]);
    if (isatty(0)) context.output.note("This speaks MCP on stdin and stdout, for an agent: see reeve mcp --help.");
    const environment = { ...context.environment, ...sessionAround(context.environment, process.ppid) };
    const backend = clientBackend({
      client: (onUnreadMail) => context.client({ surface: "mcp", onUnreadMail, isChecked: true, environment }),
      environment: callerEnvironment({ environment }),
      cwd: () => context.cwd(),
      note: (what, error) =>
        context.output.note(`reeve mcp: ${what}: ${error instanceof Error ? error.message : String(error)}`),
    });
    const version = versionOf(context.root);
    // A session is woken by the daemon, which knows when it is idle.
    const isChannel = input.flag("channel") && !backend.isSession;
    const early = earlyAnswers({ version, isSession: backend.isSession });
    const line = createLineTransport(process.stdin, process.stdout, isChannel ? undefined : early, (method) => {
      if (method === "tools/list") tellReady(environment[READY_VARIABLE]);
    });
    if (!isChannel) await line.needed;
    const { serveChannel, serveOverStdio } = await import("../../mcp/stdio.ts");
    await (isChannel ? serveChannel : serveOverStdio)(line, backend, version);
    return 0;
  },
};

/** To the hook that waits for it (agent/tools-awaited.ts). Where it cannot be written, the hook waits in vain, once. */
function tellReady(path: string | undefined): void {
  if (path === undefined || path === "") return;
  try {
    const file = openOwnFile(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC);
    writeSync(file, String(process.pid));
    closeSync(file);
  } catch {
    // The session's directory may be gone.
  }
}
