/**
 * Claude Code's sessions outside Reeve (2.1.325): those with a process of their
 * own from the registry `sessions/<pid>.json`, those of its daemon (`claude
 * --bg`) from `jobs/<id>/state.json`: state (working, blocked, done, stopped,
 * failed), sessionId, cwd, needs. The files also hold environments and more;
 * only these fields are read.
 */
import { basename, dirname, join } from "node:path";
import { type Fields, parseFields, textIn } from "../../platform/json-fields.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ActivityStatus } from "../../session/session.ts";
import type { ForeignAgent, ForeignFile, ForeignProcess, ForeignReader } from "../foreign.ts";
import { foreignProcess } from "../foreign.ts";
import { configDirOf } from "./transcript-path.ts";

export const claudeForeign: ForeignReader = {
  places(paths) {
    const configDir = configDirOf(paths);
    if (configDir === null) return [];
    return [
      { directory: join(configDir, "sessions"), within: null },
      { directory: join(configDir, "jobs"), within: "state.json" },
    ];
  },

  read({ processes, files }) {
    const living = processes.map((process) => withRegistry(process, files));
    const jobs = files.flatMap((file) => jobOf(file) ?? []);
    const known = new Set(living.flatMap(({ nativeId }) => nativeId ?? []));
    return [
      // The daemon's own workers are processes too: what its job file says is more.
      ...living.filter(({ nativeId }) => !jobs.some((job) => job.nativeId !== null && job.nativeId === nativeId)),
      ...jobs.map((job) => ({
        ...job,
        process: job.nativeId !== null && known.has(job.nativeId) ? processOf(living, job.nativeId) : null,
      })),
    ];
  },
};

function processOf(living: readonly ForeignAgent[], nativeId: string): ForeignAgent["process"] {
  return living.find((one) => one.nativeId === nativeId)?.process ?? null;
}

function withRegistry(process: ForeignProcess, files: readonly ForeignFile[]): ForeignAgent {
  const plain = foreignProcess(process);
  const file = files.find(({ path }) => basename(path) === `${process.pid}.json`);
  const status = file === undefined ? null : parseFields(file.content);
  // A file that an earlier process with this pid left says nothing.
  if (status === null || textIn(status, "procStart") !== process.startTicks) return plain;
  const word = textIn(status, "status") ?? "";
  const waitingFor = textIn(status, "waitingFor");
  return {
    ...plain,
    nativeId: textIn(status, "sessionId"),
    cwd: textIn(status, "cwd") ?? process.cwd,
    activity: ACTIVITIES[word] ?? "unknown",
    asks: word === "waiting" ? stripTerminal(waitingFor ?? "it does not say for what") : null,
    detail: `process ${process.pid}, status file`,
  };
}

const ACTIVITIES: Readonly<Record<string, ActivityStatus>> = {
  busy: "working",
  idle: "idle",
  shell: "idle",
  waiting: "awaiting-input",
  working: "working",
  blocked: "awaiting-input",
};

/** Null for what is no job, or one that is over: nobody holds its conversation. */
function jobOf({ path, content }: ForeignFile): ForeignAgent | null {
  const job: Fields | null = basename(path) === "state.json" ? parseFields(content) : null;
  const state = job === null ? null : textIn(job, "state");
  if (job === null || state === null || ["done", "stopped", "failed"].includes(state)) return null;
  return {
    process: null,
    heldBy: "daemon",
    nativeId: textIn(job, "sessionId"),
    cwd: textIn(job, "cwd"),
    activity: ACTIVITIES[state] ?? "unknown",
    asks: state === "blocked" ? stripTerminal(textIn(job, "needs") ?? "it does not say what it needs") : null,
    detail: `job ${stripTerminal(basename(dirname(path)))} of Claude Code's own daemon`,
  };
}
