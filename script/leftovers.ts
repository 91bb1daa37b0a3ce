/** What a run of the tests left: processes and directories that are below, or name, its temporary directory. */
import { readdirSync, rmSync } from "node:fs";
import { basename, join, relative } from "node:path";
import {
  isDead,
  listProcesses,
  readCommandLine,
  readEnvironmentVariable,
  sendSignal,
} from "../src/platform/process-table.ts";
import { readIfThere } from "../test/support/read-if-there.ts";

/** Which test file has which directory of the run: `f1a2b3c /path/of/a.test.ts` in each line. */
export const TEST_FILES = ".test-files";

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
        ...["REEVE_HOME", "HOME", "TMPDIR"].map((name) => `${readEnvironmentVariable(row.pid, name) ?? ""}/`),
      ];
      const found = texts.find((text) => text.includes(root));
      if (found === undefined) return [];
      const path = found.slice(found.indexOf(root)).split(/\s/, 1)[0] ?? "";
      return [
        {
          what: `process ${row.pid}: ${texts[0]}${startedBy(directory, path)}`,
          end: () => void sendSignal(row.pid, row.startTicks, "SIGKILL"),
        },
      ];
    });
}

function directoriesOf(directory: string): Leftover[] {
  const own = new Set(testFilesOf(directory).keys());
  return readdirSync(directory)
    .flatMap((name) => (own.has(name) ? namesIn(join(directory, name)).map((inner) => join(name, inner)) : [name]))
    .filter((path) => /^(?:reeve|rc)-/.test(basename(path)))
    .map((name) => join(directory, name))
    .map((path) => ({
      what: `directory${startedBy(directory, path)}`,
      end: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }),
    }));
}

function startedBy(directory: string, path: string): string {
  const file = testFilesOf(directory).get(relative(directory, path).split("/", 1)[0] ?? "");
  return file === undefined ? ` (${path})` : ` (${path}, started by ${relative(ROOT, file)})`;
}

function testFilesOf(directory: string): ReadonlyMap<string, string> {
  const lines = (readIfThere(join(directory, TEST_FILES)) ?? "").split("\n");
  return new Map(lines.map((line) => [line.split(" ", 1)[0] ?? "", line.slice(line.indexOf(" ") + 1)]));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // it went meanwhile
  }
}
