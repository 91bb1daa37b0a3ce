/**
 * The processes of a session in its box, as /proc inside shows them. All of the
 * box is the session's but these: its first process, the tmux server, this
 * daemon's control client, the pane of the anchor, what carries its passage, and
 * what was let in from outside, which has no parent in there (this look itself,
 * people who are attached).
 */
import { isDead, parseStat, type ProcessRow } from "../../platform/process-table.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ProcessVitals } from "../../session/process-vitals.ts";
import type { NamedProcess } from "../../session/session.ts";
import { MARK_VARIABLE } from "../contract.ts";
import type { BoxShell } from "./box-shell.ts";

/** Which processes of the box are Reeve's own; by tmux. */
export interface BoxFixtures {
  readonly serverPid: number;
  /** The control client that asks; the first one of a box is a child of the server. */
  readonly clientPid: number;
  readonly anchorPid: number;
  /** The wrapper, in the session's pane; null where there is no pane. */
  readonly wrapperPid: number | null;
  /** What keeps the carrier of its passage running; null where it has none. */
  readonly carrierPid: number | null;
}

export interface BoxProcesses {
  /** Those that live, without the wrapper. */
  readonly members: readonly ProcessRow[];
  readonly wrapper: ProcessRow | null;
}

/** `read` is the shell's own: a look needs no new process. */
const LIST = 'for p in /proc/[0-9]*; do if read -r l <"$p/stat"; then printf "%s\\n" "$l"; fi; done';

export async function lookAtProcesses(shell: BoxShell, fixtures: BoxFixtures): Promise<BoxProcesses> {
  const rows = parseRows((await shell.ask(LIST)).toString("utf8"));
  return sortProcesses(rows, fixtures);
}

/** A name with a line feed in it cuts its row short: that process is known by its pid alone, and counts as the session's. */
export function parseRows(text: string): readonly ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const row = parseStat(line);
    if (row !== null) return isDead(row) ? [] : [row];
    const pid = /^(\d+) \(/.exec(line)?.[1];
    return pid === undefined ? [] : [{ ...UNKNOWN, pid: Number(pid) }];
  });
}

const UNKNOWN = {
  ppid: 1,
  group: 0,
  foregroundGroup: -1,
  session: 0,
  state: "S",
  startTicks: "",
  cpuMs: 0,
  endedCpuMs: 0,
} as const;

export function sortProcesses(rows: readonly ProcessRow[], fixtures: BoxFixtures): BoxProcesses {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  const isFromOutside = (row: ProcessRow): boolean => {
    // Bounded: what is read while processes come and go may hold a circle.
    let above: ProcessRow | undefined = row;
    for (let level = 0; above !== undefined && level < 1_000; level += 1) {
      if (above.ppid === 0) return above.pid !== 1;
      above = byPid.get(above.ppid);
    }
    return false;
  };
  const carrier = rows.find(({ pid, ppid }) => pid === fixtures.carrierPid && ppid === fixtures.serverPid)?.pid;
  const isCarrier = ({ pid, ppid }: ProcessRow): boolean =>
    carrier !== undefined && (pid === carrier || ppid === carrier || byPid.get(ppid)?.ppid === carrier);
  const own = new Set([1, fixtures.serverPid, fixtures.clientPid, fixtures.anchorPid, fixtures.wrapperPid]);
  return {
    members: rows.filter((row) => !own.has(row.pid) && !isFromOutside(row) && !isCarrier(row)),
    wrapper: rows.find(({ pid }) => pid === fixtures.wrapperPid) ?? null,
  };
}

export async function signal(shell: BoxShell, rows: readonly ProcessRow[], ...names: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  const pids = rows.map(({ pid }) => pid).join(" ");
  // One that is gone by now keeps the signal from no other.
  await shell.ask(names.map((name) => `for p in ${pids}; do kill -${name} $p; done`).join("\n"));
}

/** What it was started with; null where that cannot be read. */
export async function environmentIn(shell: BoxShell, pid: number): Promise<Readonly<Record<string, string>> | null> {
  const block = (await shell.ask(`cat /proc/${pid}/environ`)).toString("utf8");
  const variables: Record<string, string> = {};
  for (const entry of block.split("\0")) {
    const equals = entry.indexOf("=");
    if (equals > 0) variables[entry.slice(0, equals)] = entry.slice(equals + 1);
  }
  return Object.keys(variables).length === 0 ? null : variables;
}

/** Whether that very process lives in the box; with a mark, only if it carries that one. */
export async function livesInside(shell: BoxShell, { pid, startTicks }: NamedProcess, mark?: string): Promise<boolean> {
  const code = `if read -r l </proc/${pid}/stat; then printf "%s\\n" "$l"; fi`;
  const row = parseStat((await shell.ask(code)).toString("utf8").trim());
  if (row === null || isDead(row) || row.startTicks !== startTicks) return false;
  return mark === undefined || (await environmentIn(shell, pid))?.[MARK_VARIABLE] === mark;
}

/** Paths only: sockets, pipes and files that were deleted are left out. */
export async function openFilesIn(shell: BoxShell, rows: readonly ProcessRow[]): Promise<readonly string[]> {
  if (rows.length === 0) return [];
  const directories = rows.map(({ pid }) => `/proc/${pid}/fd`).join(" ");
  const listed = (await shell.ask(`ls -l ${directories}`)).toString("utf8");
  return listed.split("\n").flatMap((line) => {
    const path = / -> (\/.*)$/.exec(line)?.[1];
    return path === undefined || path.endsWith(" (deleted)") ? [] : [path];
  });
}

/** For people: what it runs. */
export async function commandIn(shell: BoxShell, pid: number): Promise<string> {
  const line = (await shell.ask(`tr '\\0' ' ' </proc/${pid}/cmdline`)).toString("utf8");
  return stripTerminal(line).trim().slice(0, 200);
}

export function vitalsOf(row: ProcessRow): ProcessVitals {
  const { pid, startTicks, state, group, foregroundGroup, cpuMs, endedCpuMs } = row;
  return {
    id: `${pid} ${startTicks}`,
    text: `process ${pid}`,
    state: state === "T" ? "stopped" : state === "D" ? "stuck" : "able",
    isForeground: group === foregroundGroup,
    cpuMs,
    endedCpuMs,
  };
}
