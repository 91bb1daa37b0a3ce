/**
 * The system's processes, as /proc shows them. Owns every reading of /proc and
 * every signal Reeve sends to a process it is not the parent of. Never trusts a
 * bare pid: whoever signals names the start time too, because pids are reused.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { ReeveError } from "./reeve-error.ts";

export interface ProcessRow {
  readonly pid: number;
  readonly ppid: number;
  /** The session leader's pid: everything on one terminal shares it. */
  readonly session: number;
  /** Device number of the controlling terminal, 0 without one. */
  readonly ttyNumber: number;
  /** One letter: R, S, D running or waiting; T stopped; Z, X dead. */
  readonly state: string;
  /** Start time in clock ticks since boot; with the pid it names the process beyond doubt. */
  readonly startTicks: string;
}

export function readProcess(pid: number): ProcessRow | null {
  requireLinux();
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  return parseStat(stat);
}

/** The command name is in parentheses and may hold anything, a `)` included: fields count from the last one. */
export function parseStat(stat: string): ProcessRow | null {
  const close = stat.lastIndexOf(")");
  const pid = Number.parseInt(stat, 10);
  const [state, ppid, , session, ttyNumber, ...rest] = stat.slice(close + 2).split(" ");
  const startTicks = rest[14];
  if (close < 0 || !Number.isInteger(pid) || state === undefined || startTicks === undefined) return null;
  return { pid, ppid: Number(ppid), session: Number(session), ttyNumber: Number(ttyNumber), state, startTicks };
}

export function listProcesses(): readonly ProcessRow[] {
  requireLinux();
  const rows: ProcessRow[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^[0-9]+$/.test(name)) continue;
    const row = readProcess(Number(name));
    if (row !== null) rows.push(row);
  }
  return rows;
}

/** The owner, or null when there is no such process. */
export function ownerOf(pid: number): number | null {
  requireLinux();
  try {
    return statSync(`/proc/${pid}`).uid;
  } catch {
    return null;
  }
}

/** A variable of the environment the process was started with; null when unset or not ours to read. */
export function readEnvironmentVariable(pid: number, name: string): string | null {
  requireLinux();
  let block: Buffer;
  try {
    block = readFileSync(`/proc/${pid}/environ`);
  } catch {
    return null;
  }
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
  requireLinux();
  let block: string;
  try {
    block = readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return null;
  }
  const variables: Record<string, string> = {};
  for (const entry of block.split("\0")) {
    const equals = entry.indexOf("=");
    if (equals > 0) variables[entry.slice(0, equals)] = entry.slice(equals + 1);
  }
  return Object.keys(variables).length === 0 ? null : variables;
}

/** The command line as one string, arguments joined by spaces; empty when it cannot be read. */
export function readCommandLine(pid: number): string {
  requireLinux();
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").join(" ").trim();
  } catch {
    return "";
  }
}

/** Regular paths only: sockets, pipes and files that were deleted are left out. */
export function openFilesOf(pid: number): readonly string[] {
  requireLinux();
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      try {
        const path = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
        return path.startsWith("/") && !path.endsWith(" (deleted)") ? [path] : [];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Of its main thread, which is what forks in a shell. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .split(" ")
      .filter((text) => text !== "")
      .map(Number);
  } catch {
    return [];
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
  return row.state === "T" || row.state === "t";
}

/** Signals exactly that process; false when it is gone, replaced, or not ours. */
export function sendSignal(pid: number, startTicks: string, signal: NodeJS.Signals): boolean {
  if (pid <= 1 || pid === process.pid || !isAlive(pid, startTicks)) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

function requireLinux(): void {
  if (process.platform === "linux") return;
  throw new ReeveError({
    code: "platform-unsupported",
    kind: "config",
    message: `Reeve reads processes from /proc, which ${process.platform} does not have; run it on Linux.`,
  });
}
