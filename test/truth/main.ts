/** `npm run truth`: what Reeve says of real agents, compared with what really happened. */
import { mkdtempSync, rmSync } from "node:fs";
import { runKills } from "./kills.ts";
import { watchMachine } from "./machine.ts";
import type { Options } from "./options.ts";
import { readOptions, USAGE } from "./options.ts";
import { writeTable } from "./page.ts";
import { failuresText, killsText, truthText } from "./report.ts";
import { addUp } from "./tally.ts";
import { runTruth } from "./truth-run.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(options: Options): Promise<boolean> {
  if (options.kills > 0) {
    const result = await runKills({ ...options, onProgress: say });
    const text = killsText(result, options.seed);
    say(`\n${text}`);
    for (const { kind, text: what } of result.findings) say(`- ${kind}: ${what}`);
    if (options.write) writeTable("kills", text);
    return result.findings.length === 0;
  }
  const machine = watchMachine();
  const { results, failures } = await runTruth(options, machine, say, enoughWhenAsked());
  machine.stop();
  const text = truthText(addUp(results), options);
  say(`\n${text}\n\n${failuresText(failures)}`);
  if (options.write) writeTable("truth", text);
  return failures.length === 0;
}

/** Ctrl-C ends the run after the cases under way, with its table and nothing left behind; a second one ends it at once. */
function enoughWhenAsked(): AbortSignal {
  const asked = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const)
    process.once(name, () => {
      say("Ending after the cases under way. Once more ends it at once, and may leave sessions behind.");
      asked.abort();
    });
  return asked.signal;
}

let options: Options;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exit(2);
}
if (options.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
// Of this run alone, and short: sockets lie below it.
const temporary = mkdtempSync("/tmp/rt-");
process.env["TMPDIR"] = temporary;
let isTrue = false;
try {
  isTrue = await main(options);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
process.exit(isTrue ? 0 : 1);
