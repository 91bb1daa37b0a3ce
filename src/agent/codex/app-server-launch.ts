/** App-server mode: a server of the session's own with the TUI attached to it, and Reeve as its second client. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LaunchContext, LaunchPlan } from "../contract.ts";
import { debugFileOf } from "../native-capture.ts";
import { reminderScript } from "../reminder.ts";
import { TOOLS_WITHIN_MS, toolsReadyPath } from "../tools-awaited.ts";
import type { BootstrapRequest } from "./bootstrap-request.ts";
import { REMINDER_HOOKS, reminderFlags } from "./hook-flags.ts";
import type { CodexMcp } from "./mcp-flags.ts";
import { paneScript } from "./pane-script.ts";
import { tomlText } from "./toml-value.ts";
import { NO_MODEL_NUDGE } from "./unattended-flags.ts";
import type { UserArguments } from "./user-arguments.ts";

export interface Parts {
  /** The bundled src/agent/codex/bootstrap.ts. */
  readonly bootstrapPath: string;
  readonly nodePath: string;
}

/** The session's own server, never the one that all of a user's Codexes share. */
const NO_SHARED_DAEMON = ["-c", "features.daemon_auto_start=false"] as const;

export function planAppServer(
  context: LaunchContext,
  codex: string,
  user: UserArguments,
  mcp: CodexMcp,
  parts: Parts,
): Omit<LaunchPlan, "isPromptLeftOut"> {
  const { sessionId, launch, resume, prompt, sessionDir, spoolDir, socketDir } = context;
  const socket = join(socketDir, `${createHash("sha256").update(sessionId).digest("hex").slice(0, 12)}.sock`);
  const requestPath = join(sessionDir, "codex-bootstrap.json");
  const scriptPath = join(sessionDir, "codex-pane.sh");
  const isReminded = context.reminds === true && mcp.server !== null;
  const reminder = isReminded ? reminderScript(sessionDir, { ...REMINDER_HOOKS, isTold: false }) : null;
  const hooks = reminder === null ? [] : reminderFlags(reminder.path);
  const request: BootstrapRequest = {
    socket,
    cwd: launch.cwd,
    model: launch.model,
    extraRoots: user.extraRoots,
    resume: resume?.nativeId ?? null,
    prompt,
    tools: mcp.server === null ? null : { readyPath: toolsReadyPath(sessionDir), withinMs: TOOLS_WITHIN_MS },
    spoolDir,
    recordPath: join(sessionDir, "codex-thread.json"),
  };
  const script = paneScript({
    codex,
    socket,
    sessionDir,
    logPath: debugFileOf(context.capture),
    serverArgs: [...NO_SHARED_DAEMON, ...modelFlags(launch.model), ...mcp.flags, ...hooks, ...user.server],
    tuiArgs: [...NO_SHARED_DAEMON, ...NO_MODEL_NUDGE, ...user.tui],
    bootstrap: [parts.nodePath, parts.bootstrapPath, requestPath],
    prompt,
  });
  return {
    argv: ["/bin/sh", scriptPath],
    environment: {},
    files: [
      { path: requestPath, content: `${JSON.stringify(request)}\n`, isExecutable: false },
      { path: scriptPath, content: script, isExecutable: true },
      ...(reminder === null ? [] : [reminder]),
    ],
    nativeId: resume?.nativeId ?? null,
    transcriptPath: resume?.transcriptPath ?? null,
    observabilityReason:
      "Codex is starting: it creates its transcript (the rollout file) within about a second, before any prompt.",
    mode: {
      name: "app-server",
      text: "Codex runs with a server of its own for this session (app-server); Reeve is connected to it beside Codex's screen.",
    },
    channel: { socket },
    statusDir: null,
    ...(reminder === null ? {} : { reminds: true }),
  };
}

function modelFlags(model: string | null): readonly string[] {
  return model === null ? [] : ["-c", `model=${tomlText(model)}`];
}
