/** What a run of the tests left: processes and directories that are below, or name, its temporary directory. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import {
  isDead,
  listProcesses,
  readCommandLine,
  readEnvironmentVariable,
  sendSignal,
} from "../src/platform/process-table.ts";

/** In a test file's directory: the path of that file. */
export const STARTED_BY = ".started-by";

const ROOT = join(import.meta.dirname, "..");

export interface Leftover {
  /** In words, for a person. */
  readonly what: string;
  /** Ends the process, or removes the directory. */
  end(): void;
}

export function leftoversIn(directory: string): readonly Leftover[] {
  return [...processesOf(directory), ...directoriesOf(directory)];
}

function processesOf(directory: string): Leftover[] {
  const root = `${directory}/`;
  return listProcesses()
    .filter((row) => row.pid !== process.pid && !isDead(row))
    .flatMap((row) => {
      const texts = [
        readCommandLine(row.pid),
        ...["REEVE_HOME", "HOME"].map((name) => readEnvironmentVariable(row.pid, name) ?? ""),
      ];
      const found = texts.find((text) => text.includes(root));
      if (found === undefined) return [];
      const inside = found.slice(found.indexOf(root) + root.length).split(/[/\s]/, 1)[0] ?? "";
      return [
        {
          what: `process ${row.pid}: ${texts[0]}${startedBy(join(directory, inside))}`,
          end: () => void sendSignal(row.pid, row.startTicks, "SIGKILL"),
        },
      ];
    });
}

function directoriesOf(directory: string): Leftover[] {
  return readdirSync(directory)
    .flatMap((name) => {
      const path = join(directory, name);
      return [path, ...inDirectory(path).map((inner) => join(path, inner))];
    })
    .filter((path) => /^(?:reeve|rc)-/.test(relative(directory, path).split("/").at(-1) ?? ""))
    .map((path) => ({
      what: `directory ${path}${startedBy(join(path, ".."))}`,
      end: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
    }));
}

/** Only test files' own directories are looked into. */
function inDirectory(path: string): readonly string[] {
  try {
    const names = readdirSync(path);
    return names.includes(STARTED_BY) ? names : [];
  } catch {
    return [];
  }
}

function startedBy(directory: string): string {
  try {
    return ` (started by ${relative(ROOT, readFileSync(join(directory, STARTED_BY), "utf8"))})`;
  } catch {
    return "";
  }
}
