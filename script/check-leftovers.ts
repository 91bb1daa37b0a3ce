/** After the tests: no process and no directory of theirs may be left. */
import { readdirSync } from "node:fs";
import { isDead, listProcesses, readCommandLine, readEnvironmentVariable } from "../src/platform/process-table.ts";

const TEMPORARY = /\/tmp\/reeve-[a-z]+-/;

const processes = listProcesses()
  .filter((row) => row.pid !== process.pid && !isDead(row))
  .filter(
    (row) =>
      TEMPORARY.test(readCommandLine(row.pid)) ||
      ["REEVE_HOME", "HOME"].some((name) => TEMPORARY.test(readEnvironmentVariable(row.pid, name) ?? "")),
  )
  .map((row) => `process ${row.pid}: ${readCommandLine(row.pid)}`);
const directories = readdirSync("/tmp")
  .filter((name) => TEMPORARY.test(`/tmp/${name}`))
  .map((name) => `directory /tmp/${name}`);
for (const left of [...processes, ...directories]) console.error(`left behind: ${left}`);
process.exit(processes.length + directories.length === 0 ? 0 : 1);
