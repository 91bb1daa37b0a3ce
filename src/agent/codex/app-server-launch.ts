/** App-server mode: a server of the session's own with the TUI attached to it, and Reeve as its second client. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { LaunchContext, LaunchPlan } from "../contract.ts";
import type { BootstrapRequest } from "./bootstrap-request.ts";
import { paneScript } from "./pane-script.ts";
import { tomlText } from "./toml-value.ts";
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
  mcpFlags: readonly string[],
  parts: Parts,
): Omit<LaunchPlan, "isPromptLeftOut"> {
  const { sessionId, launch, resume, prompt, sessionDir, spoolDir, socketDir } = context;
  const socket = join(socketDir, `${createHash("sha256").update(sessionId).digest("hex").slice(0, 12)}.sock`);
  const requestPath = join(sessionDir, "codex-bootstrap.json");
  const scriptPath = join(sessionDir, "codex-pane.sh");
  const request: BootstrapRequest = {
    socket,
    cwd: launch.cwd,
    model: launch.model,
    extraRoots: user.extraRoots,
    resume: resume?.nativeId ?? null,
    prompt,
    spoolDir,
    recordPath: join(sessionDir, "codex-thread.json"),
  };
  const script = paneScript({
    codex,
    socket,
    sessionDir,
    serverArgs: [...NO_SHARED_DAEMON, ...modelFlags(launch.model), ...mcpFlags, ...user.server],
    tuiArgs: [...NO_SHARED_DAEMON, ...user.tui],
    bootstrap: [parts.nodePath, parts.bootstrapPath, requestPath],
    prompt,
  });
  return {
    argv: ["/bin/sh", scriptPath],
    environment: {},
    files: [
      { path: requestPath, content: `${JSON.stringify(request)}\n`, isExecutable: false },
      { path: scriptPath, content: script, isExecutable: true },
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
  };
}

function modelFlags(model: string | null): readonly string[] {
  return model === null ? [] : ["-c", `model=${tomlText(model)}`];
}
