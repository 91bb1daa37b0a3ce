/**
 * After the tests: no process and no directory of theirs may be left. Looks
 * only at the run's own temporary root (TMPDIR, made by check.ts): whatever
 * else is on the machine is none of its business.
 */
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { isDead, listProcesses, readCommandLine, readEnvironmentVariable } from "../src/platform/process-table.ts";

const root = `${tmpdir()}/`;

const processes = listProcesses()
  .filter((row) => row.pid !== process.pid && !isDead(row))
  .filter(
    (row) =>
      readCommandLine(row.pid).includes(root) ||
      ["REEVE_HOME", "HOME"].some((name) => readEnvironmentVariable(row.pid, name)?.startsWith(root) === true),
  )
  .map((row) => `process ${row.pid}: ${readCommandLine(row.pid)}`);
const directories = readdirSync(root)
  .filter((name) => /^(?:reeve|rc)-/.test(name))
  .map((name) => `directory ${root}${name}`);
for (const left of [...processes, ...directories]) console.error(`left behind: ${left}`);
process.exit(processes.length + directories.length === 0 ? 0 : 1);
