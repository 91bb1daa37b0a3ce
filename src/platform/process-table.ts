/**
 * The system's processes, as /proc shows them. Only this file reads /proc, and
 * signals processes that Reeve is not the parent of. A signal always needs the
 * pid and the start time of a process, because pids are reused.
 *
 * A process is gone only if the kernel says so (ENOENT, ESRCH). Whatever else
 * keeps a file of /proc from being read (no descriptor, no memory, no
 * permission) is thrown as `processes-unreadable`, and proves nothing.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statSync } from "node:fs";
import { constants } from "node:os";
import { withDescriptor } from "./descriptors.ts";
import { errnoOf, messageOf, ReeveError } from "./reeve-error.ts";

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  /** The process group it is in, and the one that its terminal belongs to now: -1 without a terminal. */
  readonly group: number;
  readonly foregroundGroup: number;
  /** The session leader's pid: everything on one terminal shares it. */
  readonly session: number;
  /** One letter: R, S, D running or waiting; T stopped; Z, X dead. */
  readonly state: string;
  /** Start time in clock ticks since boot; with the pid it names the process beyond doubt. */
  readonly startTicks: string;
  /** How long it has used the processor, and how long its children that have ended did, with theirs. */
  readonly cpuMs: number;
  readonly endedCpuMs: number;
}

/** Linux shows times in hundredths of a second, whatever it counts in (USER_HZ). */
const TICK_MS = 10;

/** Of SIGSTOP in the masks of /proc/<pid>/status, where signal 1 is bit 0. */
const STOP_BIT = 1n << BigInt(constants.signals.SIGSTOP - 1);

/** Null only when there is no such process. */
export function readProcess(pid: number): ProcessRow | null {
  // In one call of Node's: this is read for each session at every start, and for each process at every look around.
  const text = read(`/proc/${pid}/stat`, (path) => readFileSync(path, "utf8"));
  if (text === null) return null;
  const row = parseStat(text);
  if (row === null) throw unreadable(`/proc/${pid}/stat`, "it is not in the form that Linux documents");
  return row;
}

/** The command name is in parentheses and may hold anything, a `)` included: fields count from the last one. */
export function parseStat(stat: string): ProcessRow | null {
  const close = stat.lastIndexOf(")");
  const pid = Number.parseInt(stat, 10);
  const [state, ppid, group, session, , foregroundGroup, ...rest] = stat.slice(close + 2).split(" ");
  const startTicks = rest[13];
  if (close < 0 || !Number.isInteger(pid) || state === undefined || startTicks === undefined) return null;
  return {
    pid,
    ppid: Number(ppid),
    group: Number(group),
    foregroundGroup: Number(foregroundGroup),
    session: Number(session),
    state,
    startTicks,
    cpuMs: (Number(rest[5]) + Number(rest[6])) * TICK_MS,
    endedCpuMs: (Number(rest[7]) + Number(rest[8])) * TICK_MS,
  };
}

/**
 * How a process ended that nobody has waited for yet, as its parent will be told: the kernel shows it to its own user. Null
 * when it is gone without a trace.
 */
export function readExit(pid: number, startTicks: string): { code: number | null; signal: number | null } | null {
  const text = readOf(pid, "stat")?.toString("utf8") ?? "";
  const row = text === "" ? null : parseStat(text);
  if (row?.startTicks !== startTicks || !isDead(row)) return null;
  // The last field that Linux documents for this file (proc(5), since 3.5).
  const status = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[49]);
  if (!Number.isInteger(status)) return null;
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff, signal: null } : { code: null, signal };
}

/** All of them. A row is left out only if its process is gone, or another user's and hidden from us. */
export function listProcesses(): readonly ProcessRow[] {
  const rows: ProcessRow[] = [];
  for (const name of namesIn("/proc") ?? []) {
    if (!/^[0-9]+$/.test(name)) continue;
    const row = unlessForeign(Number(name), readProcess);
    if (row !== null) rows.push(row);
  }
  return rows;
}

/** The owner, or null when there is no such process. */
export function ownerOf(pid: number): number | null {
  return read(`/proc/${pid}`, (path) => statSync(path).uid);
}

/** A variable of the environment the process was started with; null when unset, gone, or not ours to read. */
export function readEnvironmentVariable(pid: number, name: string): string | null {
  const block = ifPermitted(pid, (id) => readOf(id, "environ"));
  if (block === null) return null;
  const needle = Buffer.from(`${name}=`);
  for (let at = block.indexOf(needle); at >= 0; at = block.indexOf(needle, at + 1)) {
    if (at > 0 && block[at - 1] !== 0) continue;
    const end = block.indexOf(0, at);
    return block.toString("utf8", at + needle.length, end < 0 ? block.length : end);
  }
  return null;
}

/** The whole environment the process was started with; null when there is none to read. */
export function readEnvironment(pid: number): Readonly<Record<string, string>> | null {
  const block = ifPermitted(pid, (id) => readOf(id, "environ"));
  const variables: Record<string, string> = {};
  for (const entry of block?.toString("utf8").split("\0") ?? []) {
    const equals = entry.indexOf("=");
    if (equals > 0) variables[entry.slice(0, equals)] = entry.slice(equals + 1);
  }
  return Object.keys(variables).length === 0 ? null : variables;
}

/** The command line as one string, arguments joined by spaces; empty when it has none, is gone, or not ours to read. */
export function readCommandLine(pid: number): string {
  return readArguments(pid).join(" ").trim();
}

/** The same, program first, as the process was started with it or wrote it since. */
export function readArguments(pid: number): readonly string[] {
  const bytes = ifPermitted(pid, (id) => readOf(id, "cmdline"));
  return bytes === null || bytes.length === 0 ? [] : bytes.toString("utf8").replace(/\0$/, "").split("\0");
}

/** Null when it is gone, or not ours to read. */
export function workingDirectoryOf(pid: number): string | null {
  return ifPermitted(pid, (id) => read(`/proc/${id}/cwd`, (link) => readlinkSync(link)));
}

/** Regular paths only: sockets, pipes and files that were deleted are left out. */
export function openFilesOf(pid: number): readonly string[] {
  const descriptors = ifPermitted(pid, (id) => namesIn(`/proc/${id}/fd`)) ?? [];
  return descriptors.flatMap((descriptor) => {
    const path = ifPermitted(pid, (id) => read(`/proc/${id}/fd/${descriptor}`, (link) => readlinkSync(link)));
    return path?.startsWith("/") === true && !path.endsWith(" (deleted)") ? [path] : [];
  });
}

/** Of its main thread, which is what forks in a shell; none where the kernel was built without this file. */
export function childrenOf(pid: number): readonly number[] {
  const bytes = readOf(pid, `task/${pid}/children`);
  if (bytes === null) return [];
  return bytes
    .toString("latin1")
    .split(" ")
    .filter((text) => text !== "")
    .map(Number);
}

/**
 * Whether it runs a program, which one that has ended and waits to be reaped does not. Cheaper than reading its row, but
 * false where nothing could be learnt, too, and true of whatever process has this pid now.
 */
export function runsProgram(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) !== "";
  } catch {
    return false;
  }
}

/** A zombie counts as gone: it runs nothing and only waits to be reaped. */
export function isAlive(pid: number, startTicks: string): boolean {
  const row = readProcess(pid);
  return row !== null && row.startTicks === startTicks && !isDead(row);
}

export function isDead(row: ProcessRow): boolean {
  return row.state === "Z" || row.state === "X" || row.state === "x";
}

export function isStopped(row: ProcessRow): boolean {
  return row.state === "T" || row.state === "t" || isAboutToStop(row);
}

/**
 * It waits inside the kernel (D), and a stop signal waits for it: it runs nothing more before it stops. A shell whose
 * child was stopped between vfork and exec waits so until that child goes on.
 */
export function isAboutToStop(row: ProcessRow): boolean {
  if (row.state !== "D") return false;
  const status = readOf(row.pid, "status")?.toString("latin1") ?? "";
  return [...status.matchAll(/^(?:SigPnd|ShdPnd):\t([0-9a-f]+)$/gm)].some(
    ([, mask = "0"]) => (BigInt(`0x${mask}`) & STOP_BIT) !== 0n,
  );
}

/** Signals exactly that process; false when it is gone, replaced, or not ours. */
export function sendSignal(pid: number, startTicks: string, signal: NodeJS.Signals): boolean {
  if (pid <= 1 || pid === process.pid || !isAlive(pid, startTicks)) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (isGone(error) || isForbidden(error)) return false;
    throw error;
  }
}

/** Grows with the largest file that was read; one reading at a time uses it. */
let buffer = Buffer.allocUnsafe(16_384);

/** The bytes of a file of that process, valid until the next reading; null when there is no such process. */
function readOf(pid: number, file: string): Buffer | null {
  return read(`/proc/${pid}/${file}`, (path) => {
    const descriptor = openSync(path, "r");
    try {
      let size = 0;
      for (;;) {
        const count = readSync(descriptor, buffer, size, buffer.length - size, null);
        size += count;
        // These files give all that fits: what does not fill the buffer is the end.
        if (size < buffer.length) return buffer.subarray(0, size);
        buffer = Buffer.concat([buffer], 2 * buffer.length);
      }
    } finally {
      closeSync(descriptor);
    }
  });
}

function namesIn(path: string): readonly string[] | null {
  return read(path, (directory) => readdirSync(directory));
}

function read<T>(path: string, work: (path: string) => T): T | null {
  requireLinux();
  try {
    return withDescriptor(() => work(path));
  } catch (error) {
    if (isGone(error) && isMounted()) return null;
    throw unreadable(path, messageOf(error), errnoOf(error));
  }
}

/**
 * What we may not read of another user's process, or of one with more rights than ours (pid 1 in a container), says
 * nothing about our own: it counts as not there. But if we may not even read the same of this process, the fault is
 * not with that one.
 */
function ifPermitted<T>(pid: number, work: (pid: number) => T | null): T | null {
  try {
    return work(pid);
  } catch (error) {
    if (!isForbidden(error) || pid === process.pid) throw error;
    if (!isForeign(pid)) work(process.pid);
    return null;
  }
}

/** With /proc mounted so (hidepid) another user's process cannot be read at all; ours can. */
function unlessForeign<T>(pid: number, work: (pid: number) => T | null): T | null {
  try {
    return work(pid);
  } catch (error) {
    if (isForbidden(error) && isForeign(pid)) return null;
    throw error;
  }
}

function isForeign(pid: number): boolean {
  const owner = ownerOf(pid);
  return owner !== null && owner !== process.getuid?.();
}

function isGone(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOENT" || errno === "ESRCH";
}

function isForbidden(error: unknown): boolean {
  const errno = isUnreadable(error) ? error.details["errno"] : errnoOf(error);
  return errno === "EACCES" || errno === "EPERM";
}

/** Without /proc nothing is found there, whatever runs. */
function isMounted(): boolean {
  try {
    return statSync("/proc/self").isDirectory();
  } catch {
    return false;
  }
}

function unreadable(path: string, why: string, errno?: string): ReeveError {
  return new ReeveError({
    code: "processes-unreadable",
    kind: "unavailable",
    message: `${path} could not be read: ${why}. Nothing was concluded from it; try again.`,
    details: { reason: `${path} could not be read: ${why}`, errno },
  });
}

export function isUnreadable(error: unknown): error is ReeveError {
  return error instanceof ReeveError && error.code === "processes-unreadable";
}

function requireLinux(): void {
  if (process.platform === "linux") return;
  throw new ReeveError({
    code: "platform-unsupported",
    kind: "config",
    message: `Reeve reads processes from /proc, which ${process.platform} does not have; run it on Linux.`,
  });
}
