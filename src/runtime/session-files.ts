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
  /** Removes what a program left; directories, and what is somebody else's or in somebody else's directory, stay. */
  removeLeftover(path: string): Promise<void>;
  /** Without links; null where nothing is there. */
  realPath(path: string): Promise<string | null>;
  /** As execvp(3) would find it; null where it would not. */
  findProgram(command: string, where: ProgramSearch): Promise<FoundFile | null>;
  /** What a program prints, with this environment; what it has printed by then where it takes too long or fails. */
  ask(path: string, args: readonly string[], options: AskOptions): Promise<string>;
}

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
