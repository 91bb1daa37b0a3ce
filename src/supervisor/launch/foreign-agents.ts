/**
 * Agents of this user that Reeve did not start. Looks at processes and at the
 * files that agents keep about themselves, and lets each adapter say what they
 * mean. Only looks: nothing here signals, writes or connects to anything.
 */
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { ForeignAgent, ForeignFile, ForeignPlace, ForeignProcess } from "../../agent/foreign.ts";
import { runsProgram } from "../../agent/foreign.ts";
import type { ProcessRow } from "../../platform/process-table.ts";
import {
  isDead,
  listProcesses,
  openFilesOf,
  ownerOf,
  readArguments,
  readEnvironmentVariable,
  workingDirectoryOf,
} from "../../platform/process-table.ts";
import { MARK_VARIABLE } from "../../runtime/contract.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";

export interface Foreign extends ForeignAgent {
  /** The agent's name. */
  readonly agent: string;
}

type Files = Pick<SessionFiles, "list" | "read">;

/** `environment`: HOME, and the variables by which agents find their files; nothing else of it is used. */
export async function findForeign(
  agents: readonly Agent[],
  files: Files | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Foreign[]> {
  if (files === undefined) return [];
  const rows = listProcesses().filter((row) => !isDead(row));
  const found = agents.map(async ({ name, program, foreign, pathVariables }): Promise<readonly Foreign[]> => {
    if (program === null || foreign === undefined) return [];
    const paths = Object.fromEntries(
      ["HOME", ...pathVariables].flatMap((variable) => {
        const value = environment[variable];
        return value === undefined ? [] : [[variable, value]];
      }),
    );
    const processes = processesOf(rows, program.command, paths["HOME"] ?? "");
    const told = await Promise.all(foreign.places(paths).map((place) => readPlace(files, place)));
    return foreign.read({ processes, files: told.flat() }).map((one) => ({ ...one, agent: name }));
  });
  return (await Promise.all(found)).flat();
}

/** Of this user, in this home, without our mark. Of a launcher and the program it started, the program counts. */
function processesOf(rows: readonly ProcessRow[], command: string, home: string): readonly ForeignProcess[] {
  const running = rows
    .map((row) => ({ row, argv: readArguments(row.pid) }))
    .filter(({ row, argv }) => runsProgram(argv, command) && isOurUsers(row.pid, home));
  const parents = new Set(running.map(({ row }) => row.ppid));
  return running
    .filter(({ row }) => !parents.has(row.pid))
    .map(({ row: { pid, startTicks }, argv }) => ({
      pid,
      startTicks,
      argv,
      cwd: workingDirectoryOf(pid),
      openFiles: openFilesOf(pid),
    }));
}

/** One with another home keeps its files elsewhere: it is not ours to speak of. */
function isOurUsers(pid: number, home: string): boolean {
  if (ownerOf(pid) !== process.getuid?.()) return false;
  return readEnvironmentVariable(pid, MARK_VARIABLE) === null && readEnvironmentVariable(pid, "HOME") === home;
}

/** Far more than such a file has; a larger one is none. */
const LARGEST_BYTES = 1_048_576;
/** The newest matter; a directory that is never cleared must not be read whole each time. */
const MOST_FILES = 500;

async function readPlace(files: Files, { directory, within }: ForeignPlace): Promise<readonly ForeignFile[]> {
  const entries = await files.list(directory);
  const paths = entries
    .filter((entry) => (within === null ? entry.isFile && entry.name.endsWith(".json") : entry.isDirectory))
    .slice(-MOST_FILES)
    .map(({ name }) => (within === null ? join(directory, name) : join(directory, name, within)));
  const read = await Promise.all(
    paths.map(async (path) => ({
      path,
      content: await files.read(path, { mostBytes: LARGEST_BYTES, refuseLinks: true }),
    })),
  );
  return read.flatMap(({ path, content }) => (content === null ? [] : [{ path, content }]));
}
