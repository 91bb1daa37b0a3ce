/**
 * The files where a session lives: those that are planned for it, its
 * transcript, status files and spool, and the programs it can run. They are
 * always reached through the session's runtime, because it may be on another
 * machine. Paths are those that the session itself sees.
 *
 * `null` and "not there" are proven. If a file could not be checked, an error
 * is thrown.
 */
import type { LineCursor, NewLines, ReadLimits } from "../platform/line-cursor.ts";
import type { Tail } from "../platform/file-tail.ts";

export interface SessionFiles {
  /**
   * The whole text; null where there is no plain file of at most so many bytes that may be read. With `refuseLinks`
   * a link counts as none.
   */
  read(path: string, options: { readonly mostBytes: number; readonly refuseLinks?: true }): Promise<string | null>;
  /** The lines that it gained since the cursor. */
  readNewLines(path: string, cursor: LineCursor | null, limits?: Partial<ReadLimits>): Promise<NewLines>;
  /** Overwrites with blanks what was read of it, while its writer may append to it; returns the cursor for the same place. */
  blankUpTo(path: string, cursor: LineCursor): Promise<LineCursor | null>;
  /** Its newest lines. Rejects where there is no such file. */
  readTail(path: string, options: { readonly bytes: number; readonly since: number | null }): Promise<Tail>;
  /** Null where nothing is there. */
  stat(path: string): Promise<FileState | null>;
  /** What is in a directory; nothing where there is none. */
  list(directory: string): Promise<readonly FileEntry[]>;
  /** Tells of what happens to a file, or in a directory, from now on. Rejects where it cannot be watched. */
  watch(path: string, tell: (change: FileChange) => void): Promise<FileWatch>;
  /** Whole or not at all, with the directories above it, for its user alone. */
  write(file: { readonly path: string; readonly content: string; readonly isExecutable: boolean }): Promise<void>;
  /** For its user alone. What stands in its way and is no directory is moved aside. */
  makeDirectory(path: string): Promise<void>;
  /** Removes a file of its user; what is none is moved aside. */
  remove(path: string): Promise<void>;
  /** Removes a directory of the session's with everything in it; links are not followed. */
  removeTree(path: string): Promise<void>;
  /** Removes what a program left; directories, and what is somebody else's or in somebody else's directory, stay. */
  removeLeftover(path: string): Promise<void>;
  /**
   * Makes a symbolic link. `new`: false where something else stands there. `replace`: whatever file or link stands
   * there goes, in one step.
   */
  link(path: string, target: string, how: "new" | "replace"): Promise<boolean>;
  /** A second name for a file, under which it stays if the first is removed; false where the disk cannot do that. */
  hold(path: string, target: string): Promise<boolean>;
  /** Removes a link that leads there; what is none, or leads elsewhere, stays. */
  unlink(path: string, target: string): Promise<void>;
  /** Without links; null where nothing is there. */
  realPath(path: string): Promise<string | null>;
  /** As execvp(3) would find it; null where it would not. */
  findProgram(command: string, where: ProgramSearch): Promise<FoundFile | null>;
  /** What a program prints, with this environment; what it has printed by then where it takes too long or fails. */
  ask(path: string, args: readonly string[], options: AskOptions): Promise<string>;
  /** Runs a program to its end. Rejects where it cannot be run, takes too long or prints too much. */
  run(path: string, args: readonly string[], options: RunOptions): Promise<ProgramRun>;
  /**
   * For people: the processes of this user that work in this directory or below, or have a file open there; not
   * what Reeve itself runs. Rejects where that cannot be read.
   */
  processesIn(directory: string): Promise<readonly string[]>;
}

/** What is asked of the programs that a session can run. */
export type SessionPrograms = Pick<SessionFiles, "findProgram" | "ask" | "realPath" | "read">;

export interface FileState {
  readonly isFile: boolean;
  readonly isDirectory: boolean;
  /** Another for another file under the same name, as in `LineCursor.identity`. */
  readonly identity: string;
  readonly size: number;
  readonly modifiedAt: number;
}

export interface FileEntry {
  readonly name: string;
  readonly isFile: boolean;
  readonly isDirectory: boolean;
}

export type FileChange =
  /** `name`: of what changed in the directory, where that is known. `written: false`: it came, went or was renamed. */
  | { readonly type: "changed"; readonly name: string | null; readonly written: boolean }
  /** Nothing more is told. */
  | { readonly type: "lost"; readonly why: string };

export interface FileWatch {
  close(): void;
}

export interface ProgramSearch {
  readonly cwd: string;
  readonly path: string | undefined;
}

export interface FoundFile {
  readonly path: string;
  /** Changes with the file. */
  readonly stamp: string;
}

export interface AskOptions {
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface RunOptions extends AskOptions {
  /** What it reads from its standard input; nothing by default. */
  readonly input?: string;
}

export interface ProgramRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}
