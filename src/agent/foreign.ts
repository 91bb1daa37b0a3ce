/**
 * Agents of this user that Reeve did not start: how an adapter recognizes its
 * own among processes and files. Pure: supervisor/launch/foreign-agents.ts
 * reads the processes and files, and Reeve never changes such an agent.
 */
import { basename } from "node:path";
import type { ActivityStatus } from "../session/session.ts";

/** A process of this user without Reeve's mark, its program one of the agent's. */
export interface ForeignProcess {
  readonly pid: number;
  readonly startTicks: string;
  /** What it was started with, program first. */
  readonly argv: readonly string[];
  readonly cwd: string | null;
  readonly openFiles: readonly string[];
}

export interface ForeignFile {
  readonly path: string;
  readonly content: string;
}

/** Where files tell of agents: every file in a directory, or this file in each of its directories. */
export interface ForeignPlace {
  readonly directory: string;
  readonly within: string | null;
}

export interface ForeignAgent {
  /** Null where only the vendor's own daemon knows. */
  readonly process: { readonly pid: number; readonly startTicks: string } | null;
  /** Who has it open: a process of its own, or the vendor's daemon. */
  readonly heldBy: "process" | "daemon";
  /** Of the conversation, where that is known. */
  readonly nativeId: string | null;
  readonly cwd: string | null;
  readonly activity: ActivityStatus;
  readonly asks: string | null;
  /** By what that is known. */
  readonly detail: string;
}

export interface ForeignReader {
  /** `paths`: the variables by which the agent finds its files. */
  places(paths: Readonly<Record<string, string>>): readonly ForeignPlace[];
  read(found: {
    readonly processes: readonly ForeignProcess[];
    readonly files: readonly ForeignFile[];
  }): readonly ForeignAgent[];
}

/** For agents of which nothing but the process is known. */
export const processesOnly: ForeignReader = {
  places: () => [],
  read: ({ processes }) => processes.map((process) => foreignProcess(process)),
};

export function foreignProcess({ pid, startTicks, cwd }: ForeignProcess): ForeignAgent {
  return {
    process: { pid, startTicks },
    heldBy: "process",
    nativeId: null,
    cwd,
    activity: "unknown",
    asks: null,
    detail: `process ${pid}`,
  };
}

/** Whether a command line runs this program: itself, or as a script of an interpreter. */
export function runsProgram(argv: readonly string[], command: string): boolean {
  const [program = "", script = ""] = argv;
  const isIt = (path: string): boolean => basename(path).replace(/\.(?:js|mjs|cjs|exe)$/, "") === command;
  return isIt(program) || (/^(?:node|bun|deno)$/.test(basename(program)) && isIt(script));
}
