/** What the kernel says: the daemon's process, the processes of a session, and when its main process was gone. */
import {
  isAlive,
  isDead,
  listProcesses,
  readCommandLine,
  readEnvironmentVariable,
} from "../../src/platform/process-table.ts";
import type { ProcessRow } from "../../src/platform/process-table.ts";
import type { TestHome } from "../support/test-home.ts";

export interface NamedProcess {
  readonly pid: number;
  readonly startTicks: string;
}

export function daemonOf(home: TestHome): NamedProcess | null {
  const found = listProcesses().find(
    (row) =>
      !isDead(row) &&
      /\/daemon(?:-main)?\.[jt]s/.test(readCommandLine(row.pid)) &&
      readEnvironmentVariable(row.pid, "REEVE_HOME") === home.dir,
  );
  return found ?? null;
}

/** The process that stands at the top of one incarnation: it carries the mark, its parent does not. */
export function mainProcess(home: TestHome, sessionId: string, incarnation: number): NamedProcess | null {
  const marked = home.marked(sessionId).filter((found) => found.incarnation === incarnation);
  if (marked.length === 0) return null;
  const rows = new Map(listProcesses().map((row) => [row.pid, row]));
  const mine = marked.flatMap(({ pid }) => rows.get(pid) ?? []);
  const isTop = (row: ProcessRow): boolean => !mine.some((other) => other.pid === row.ppid);
  return mine.find(isTop) ?? null;
}

export function isThere({ pid, startTicks }: NamedProcess): boolean {
  return isAlive(pid, startTicks);
}

export function signal(process_: NamedProcess, name: NodeJS.Signals): boolean {
  if (!isThere(process_)) return false;
  try {
    process.kill(process_.pid, name);
    return true;
  } catch {
    return false;
  }
}
