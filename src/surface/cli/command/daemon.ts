import { systemClock } from "../../../platform/clock.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import type { OutputOf } from "../../../client/operation-types.ts";
import { daemonCommand } from "../../../client/daemon-command.ts";
import { answerInWords } from "../answer.ts";
import { usage } from "../usage.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { oneLine } from "../session-text.ts";
import { relativeTime } from "../relative-time.ts";
import { installService } from "./daemon-install.ts";

const ACTIONS = ["start", "stop", "restart", "status", "logs", "install", "run"] as const;

export const daemonCommandLine: CliCommand = {
  name: "daemon",
  handsOver: true,
  summary: "start, stop or check the daemon; other commands start it if it is not running",
  arguments: [{ name: "action", choices: ACTIONS }],
  options: [
    { name: "print", summary: "install: only print the service definition" },
    {
      name: "lines",
      short: "n",
      value: "N",
      type: "count",
      summary: "logs: only the last N lines (default 50)",
    },
    { name: "follow", short: "f", summary: "logs: keep printing what is written next" },
  ],
  notes: [
    "status exits with 1 if the daemon is not running; it does not start it.",
    "restart and stop leave every session running; they are found again at the next start. logs shows the daemon's own log; what happened to sessions is in reeve events.",
    "install writes a systemd user unit (launchd on macOS); run stays in the foreground.",
  ],
  examples: [
    { line: "reeve daemon status --json", does: "its pid, version and warnings" },
    { line: "reeve daemon logs -n 20", does: "what the daemon wrote last" },
    { line: "reeve daemon install --print", does: "see the service before it is written" },
  ],

  async run(input, context) {
    const [action] = input.arguments;
    if (input.flag("print") && action !== "install")
      throw usage("unknown-option", `daemon ${action} has no option --print; it belongs to daemon install.`);
    if ((input.flag("follow") || input.number("lines") !== undefined) && action !== "logs")
      throw usage(
        "unknown-option",
        `daemon ${action} has no options --lines and --follow; they belong to daemon logs.`,
      );
    switch (action) {
      case "start":
        return tellStatus(context, await context.client().daemonStatus());
      case "stop":
        return await stop(context);
      case "restart":
        return await restart(context);
      case "logs": {
        const { showDaemonLog } = await import("../daemon-log.ts");
        return await showDaemonLog(context, input.number("lines") ?? 50, input.flag("follow"));
      }
      case "install":
        return installService(context, input.flag("print") ? "print" : "write");
      case "run": {
        const { runInForeground } = await import("../foreground.ts");
        return await runInForeground(daemonCommand(context.root), context.environment);
      }
      default:
        return await status(context);
    }
  },
};

type Status = OutputOf<"daemonStatus">;

async function status(context: CliContext): Promise<number> {
  const found = await statusIfRunning(context);
  if (found !== null) return tellStatus(context, found);
  tellNotRunning(context);
  return 1;
}

function tellStatus(context: CliContext, found: Status): number {
  for (const warning of context.isJson ? [] : found.warnings) context.output.note(oneLine(warning));
  answerInWords(context, { running: true, ...found }, () => {
    const orphans = found.orphans.length === 0 ? "" : `; ${found.orphans.length} left-over processes without a session`;
    return `The daemon is running: pid ${found.pid}, version ${found.version}, started ${relativeTime(found.started_at, Date.now())}, ${found.sessions} sessions${orphans}. Its socket is ${oneLine(found.socket_path)}.`;
  });
  return 0;
}

async function stop(context: CliContext): Promise<number> {
  const found = await statusIfRunning(context);
  const pid = await stopRunning(context);
  if (pid === null) tellNotRunning(context);
  else {
    const left = (found?.sessions ?? 0) === 0 ? "no session was left" : "sessions run on";
    answerInWords(context, { running: false, pid }, () => `The daemon (pid ${pid}) has stopped; ${left}.`);
  }
  return 0;
}

async function restart(context: CliContext): Promise<number> {
  await stopRunning(context);
  return tellStatus(context, await context.client().daemonStatus());
}

/** Of the one that ran and is gone; null: none did. */
async function stopRunning(context: CliContext): Promise<number | null> {
  const found = await statusIfRunning(context);
  if (found === null) return null;
  await context
    .client({ autostart: false })
    .stopDaemon()
    .catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  await untilGone(found.pid);
  return found.pid;
}

/** It closes its database within moments; ten seconds are a daemon that hangs. */
const LONGEST_STOP_MS = 10_000;
const LOOK_MS = 15;

export async function untilGone(pid: number): Promise<void> {
  const { isDead, readProcess } = await import("../../../platform/process-table.ts");
  // One that is dead and waits to be collected is gone: some containers have an init that takes seconds for that.
  const isZombie = (): boolean => {
    const row = readProcess(pid);
    return row !== null && isDead(row);
  };
  const deadline = systemClock.monotonic() + LONGEST_STOP_MS;
  while (isThere(pid) && !isZombie()) {
    if (systemClock.monotonic() > deadline) {
      throw new ReeveError({
        code: "daemon-stuck",
        kind: "unavailable",
        message: `The daemon (pid ${pid}) was told to stop but is still there after 10 s; see reeve daemon logs.`,
      });
    }
    await systemClock.sleep(LOOK_MS);
  }
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export async function statusIfRunning(context: CliContext): Promise<Status | null> {
  try {
    return await context.client({ autostart: false }).daemonStatus();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof ReeveError && (error.code === "daemon-not-running" || error.code === "daemon-lost");
}

function tellNotRunning(context: CliContext): void {
  answerInWords(context, { running: false }, () => "The daemon is not running.");
}
