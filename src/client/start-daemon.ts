/**
 * Starts the daemon of a home once, even if many clients ask at the same time:
 * one of them gets a lock of the kernel and spawns it, the others wait for its
 * socket. The daemon has a lock of its own and answers `busy`, so there is
 * never a second one.
 */
import { spawn } from "node:child_process";
import { closeSync, constants } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { systemClock } from "../platform/clock.ts";
import { fieldsOf, parseFields } from "../platform/json-fields.ts";
import { openOwnFile } from "../platform/own-file.ts";
import { ensurePrivateDir } from "../platform/private-dir.ts";
import { withAllocator } from "../platform/allocator.ts";
import { acquireProcessLock } from "../platform/process-lock.ts";
import { errnoOf, isErrorKind, messageOf, ReeveError } from "../platform/reeve-error.ts";

export interface StartPlan {
  readonly command: () => readonly string[];
  readonly environment: () => Readonly<Record<string, string | undefined>>;
  /** What the daemon's runtime says when it breaks; the next daemon reads it. */
  readonly stderrPath: string;
}

/** Rebuilding a damaged database of thousands of sessions takes seconds; a minute is a daemon that hangs. */
const LONGEST_START_MS = 60_000;
/** A daemon that stops holds its lock while it closes; longer than this and it hangs. */
const LONGEST_BUSY_MS = 10_000;
const EXIT_KNOWN_MS = 100;
const FIRST_PAUSE_MS = 15;
const LONGEST_PAUSE_MS = 120;

/** Returns once somebody answers on the socket. */
export async function startDaemon(plan: StartPlan, socketPath: string): Promise<void> {
  const runDir = dirname(socketPath);
  ensurePrivateDir(runDir);
  const startedAt = systemClock.monotonic();
  let busySince: number | null = null;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.5, LONGEST_PAUSE_MS)) {
    if (await answers(socketPath)) return;
    const outcome = await spawnAlone(plan, socketPath, join(runDir, "start.lock"));
    if (outcome === "ready") return;
    const now = systemClock.monotonic();
    busySince = outcome === "busy" ? (busySince ?? now) : null;
    if (busySince !== null && now - busySince > LONGEST_BUSY_MS)
      throw stuck("Another daemon holds this home but does not answer");
    if (now - startedAt > LONGEST_START_MS) throw stuck("The daemon is being started but does not answer");
    await systemClock.sleep(pauseMs * (0.5 + Math.random()));
  }
}

/** `waiting`: somebody else is starting it. */
async function spawnAlone(
  plan: StartPlan,
  socketPath: string,
  lockPath: string,
): Promise<"ready" | "busy" | "waiting"> {
  const lock = acquireProcessLock(lockPath);
  if (lock === null) return "waiting";
  try {
    // Whoever held the lock before may have just finished.
    if (await answers(socketPath)) return "ready";
    const line = await firstLine(plan);
    if (line === "ready" || line === "busy") return line;
    throw refusal(line);
  } finally {
    lock.release();
  }
}

/** What the daemon says on descriptor 3 about its start; empty when it ended without a word. */
function firstLine(plan: StartPlan): Promise<string> {
  const [program = "", ...args] = plan.command();
  const stderr = openStderr(plan.stderrPath);
  const child = spawn(program, args, {
    cwd: "/",
    detached: true,
    env: { ...daemonEnvironment(plan.environment()), REEVE_READY_FD: "3" },
    stdio: ["ignore", "ignore", stderr ?? "ignore", "pipe"],
  });
  if (stderr !== null) closeSync(stderr);
  child.unref();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(stuck("The daemon was started but is not ready")), LONGEST_START_MS);
    const pipe = child.stdio[3];
    let text = "";
    const settle = (): void => {
      clearTimeout(timer);
      if (pipe instanceof Readable) pipe.destroy();
      resolve(text.split("\n", 1)[0] ?? "");
    };
    // Somebody ended it: that says nothing about whether the next one can start.
    child.on("exit", (_code, signal) => {
      clearTimeout(timer);
      if (signal !== null && text === "") reject(killed(signal));
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(notSpawned(error));
    });
    if (!(pipe instanceof Readable)) return settle();
    pipe.on("data", (bytes: Buffer) => {
      text += bytes.toString("utf8");
      if (text.includes("\n")) settle();
    });
    // Its end is in the pipe a moment before it is known how it ended.
    const settleSoon = (): void => void setTimeout(settle, EXIT_KNOWN_MS);
    pipe.on("error", settleSoon);
    pipe.on("end", settleSoon);
  });
}

function openStderr(path: string): number | null {
  try {
    ensurePrivateDir(dirname(path));
    return openOwnFile(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  } catch {
    return null;
  }
}

/** A machine that is short of processes or memory may have some again in a moment; a missing program will not appear. */
function notSpawned(error: Error): ReeveError {
  const isMissing = ["ENOENT", "EACCES", "ENOEXEC", "ENOTDIR"].includes(errnoOf(error) ?? "");
  return new ReeveError({
    code: isMissing ? "daemon-not-installed" : "daemon-not-started",
    kind: isMissing ? "config" : "unavailable",
    message: `The daemon cannot be started (${messageOf(error)}); ${isMissing ? "reinstall Reeve" : "try again"}.`,
  });
}

/**
 * The user's, less what belongs to the session this may be called from: the daemon is nobody's child. And how it keeps
 * its memory.
 */
export function daemonEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const isOurs = (name: string): boolean =>
    (name.startsWith("REEVE_") && name !== "REEVE_HOME" && name !== "REEVE_FAILPOINT_FILE") ||
    name === "TMUX" ||
    name === "TMUX_PANE";
  return Object.fromEntries(
    Object.entries(withAllocator(environment)).flatMap(([name, value]) =>
      value === undefined || isOurs(name) ? [] : [[name, value]],
    ),
  );
}

function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    const settle = (value: boolean): void => {
      socket.destroy();
      resolve(value);
    };
    socket.on("connect", () => settle(true));
    // A full queue is a daemon too.
    socket.on("error", (error: NodeJS.ErrnoException) => settle(error.code === "EAGAIN"));
  });
}

function refusal(line: string): ReeveError {
  const { code, kind, message } = fieldsOf(parseFields(line));
  if (typeof code === "string" && isErrorKind(kind) && typeof message === "string")
    return new ReeveError({ code, kind, message });
  return new ReeveError({
    code: "daemon-not-started",
    kind: "unavailable",
    message: "The daemon ended before it was ready; run reeve daemon run to see why.",
  });
}

function killed(signal: string): ReeveError {
  return new ReeveError({
    code: "daemon-lost",
    kind: "unavailable",
    message: `The daemon was killed (${signal}) while it started; try again.`,
  });
}

function stuck(what: string): ReeveError {
  return new ReeveError({
    code: "daemon-stuck",
    kind: "unavailable",
    message: `${what}; see reeve daemon logs.`,
  });
}
