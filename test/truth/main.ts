/** `npm run truth`: runs random cases for so many minutes and prints what was claimed and was not true. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Case, Mode } from "./case.ts";
import { formatCase, MODES, parseCase } from "./case.ts";
import type { Kind } from "./finding.ts";
import { watchMachine } from "./machine.ts";
import { circumstances, recoveryLine, tableOf } from "./report.ts";
import { runCase } from "./run-case.ts";
import type { CaseResult } from "./run-case.ts";
import { drawCase } from "./scenario.ts";
import { shrink } from "./shrink.ts";
import { addUp } from "./tally.ts";
import { timelineOf } from "./timeline.ts";

const usage = `Usage: npm run truth -- [--minutes N] [--seed S] [--agents claude,gemini,…] [--parallel N]
       npm run truth -- --repeat "CASE" [--times N]

  --minutes N    how long new cases are drawn; 5 unless given
  --seed S       the same seed draws the same cases; 1 unless given
  --cases N      stop after so many cases
  --agents LIST  of ${MODES.join(", ")}; all unless given
  --parallel N   cases at a time; 2 unless given
  --shrink N     how many runs each failure may cost to find a shorter way to repeat it; 6 unless given
  --repeat CASE  run just this case, as a failure prints it, or as SEED/NUMBER
  --times N      how often; once unless given
  --keep DIR     write the whole history of each case that failed there
`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
    cases: { type: "string", default: "100000" },
    agents: { type: "string", default: MODES.join(",") },
    parallel: { type: "string", default: "2" },
    shrink: { type: "string", default: "6" },
    repeat: { type: "string", multiple: true },
    times: { type: "string", default: "1" },
    keep: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(usage);
  process.exit(0);
}

// Of this run alone, and short: sockets lie below it.
const temporary = mkdtempSync("/tmp/rt-");
process.env["TMPDIR"] = temporary;
const machine = watchMachine();
const modes = values.agents.split(",").map((name) => {
  const mode = MODES.find((one) => one === name);
  if (mode === undefined) throw new Error(`--agents takes ${MODES.join(", ")}, not ${name}`);
  return mode;
});

interface Failure {
  readonly name: string;
  readonly theCase: Case;
  readonly result: CaseResult;
}
const results: CaseResult[] = [];
const failures: Failure[] = [];

try {
  if (values.repeat === undefined) await drawn();
  else for (const text of values.repeat) await repeated(text);
  report();
} finally {
  machine.stop();
  rmSync(temporary, { recursive: true, force: true });
}
process.exit(failures.length === 0 ? 0 : 1);

async function drawn(): Promise<void> {
  const endsAt = Date.now() + Number(values.minutes) * 60_000;
  let next = 0;
  const worker = async (): Promise<void> => {
    while (Date.now() < endsAt && next < Number(values.cases)) {
      const number = next++;
      await run(`${values.seed}/${number}`, drawCase(values.seed, number, { modes }));
    }
  };
  await Promise.all(Array.from({ length: Number(values.parallel) }, worker));
}

async function repeated(text: string): Promise<void> {
  const [, seed, number] = /^([^/|:]+)\/(\d+)$/.exec(text) ?? [];
  const theCase = seed === undefined ? parseCase(text) : drawCase(seed, Number(number), { modes });
  for (let time = 0; time < Number(values.times); time++) await run(`repeat ${time + 1}`, theCase);
}

async function run(name: string, theCase: Case): Promise<void> {
  const began = Date.now();
  const result = await runCase(theCase, machine);
  results.push(result);
  const found = result.lanes.flatMap((lane) =>
    lane.findings.map((finding) => `${lane.mode}: ${finding.kind}: ${finding.text}`),
  );
  const turns = result.lanes.reduce((sum, lane) => sum + lane.turns, 0);
  console.log(
    `${found.length === 0 ? "ok    " : "FAILED"} ${name} (${Math.round((Date.now() - began) / 1_000)} s, ${turns} turns) ${formatCase(theCase)}`,
  );
  for (const line of found) console.log(`         ${line}`);
  if (found.length === 0) return;
  failures.push({ name, theCase, result });
  if (values.keep === undefined) return;
  const base = join(values.keep, `${String(results.length).padStart(4, "0")}-${name.replaceAll(/\W+/g, "-")}`);
  writeFileSync(`${base}.json`, JSON.stringify({ case: formatCase(theCase), result }, null, 1));
  const timelines = result.lanes.map(({ mode, history }) => `${mode}\n${timelineOf(history)}`);
  writeFileSync(`${base}.txt`, [formatCase(theCase), ...found, "", ...timelines, ""].join("\n"));
}

function kindsOf({ lanes }: CaseResult): ReadonlySet<Kind> {
  return new Set(lanes.flatMap(({ findings }) => findings.map(({ kind }) => kind)));
}

function report(): void {
  const totals = addUp(results);
  console.log(`\n${circumstances()}; seed ${values.seed}\n\n${tableOf(totals)}\n\n${recoveryLine(totals)}`);
}

void shrink;
void kindsOf;
export type { Mode };
