/**
 * The benchmark: each target as a ratio to a baseline measured in the same
 * run. Not a test: an unmet target is said, not failed; only a measurement
 * that could not be made ends with status 1.
 *
 *   npm run bench -- [--only 1,9] [--quick] [--json]
 */
import { parseArgs } from "node:util";
import { cliList } from "./cli-list.ts";
import { eventRate } from "./event-rate.ts";
import { idle } from "./idle.ts";
import { listSessions } from "./list-sessions.ts";
import { recovery } from "./recovery.ts";
import { sendMessage } from "./send-message.ts";
import { sessionData } from "./session-data.ts";
import { startSession } from "./start-session.ts";
import { type Build, prepareBuild } from "./support/build.ts";
import { isMet, type Row } from "./support/measure.ts";
import { aboutLines, describeMachine, rowLines } from "./support/report.ts";
import { createScope } from "./support/scope.ts";
import type { Target } from "./support/target.ts";

const TARGETS: readonly Target[] = [
  startSession,
  listSessions,
  sessionData,
  sendMessage,
  recovery,
  idle,
  eventRate,
  cliList,
];

/** One target that takes longer than this hangs. */
const LONGEST_TARGET_MS = 150_000;
/** Past this nothing new is begun. */
const LONGEST_RUN_MS = 300_000;

type Outcome = {
  readonly target: Target;
  readonly rows: readonly Row[];
  readonly seconds: number;
  readonly broken: string | null;
};

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const run = createScope();
/** Whatever the target under way has started. */
let current = createScope();

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    say(`\n${signal}: ending what was started`);
    const report = (error: unknown): void => console.error(String(error));
    void current
      .end()
      .catch(report)
      .then(run.end)
      .catch(report)
      .finally(() => process.exit(130));
  });
}

const about = describeMachine();
for (const line of aboutLines(about)) say(line);
const outcomes: Outcome[] = [];
try {
  const build = await prepareBuild(run);
  for (const target of chosen(options.only)) {
    say(`\n${target.number}. ${target.title}`);
    const outcome = await measure(target, build);
    outcomes.push(outcome);
    if (outcome.broken !== null) say(`  BROKEN: ${outcome.broken}`);
  }
} finally {
  await run.end();
}
conclude(outcomes);

async function measure(target: Target, build: Build): Promise<Outcome> {
  const startedAt = performance.now();
  const seconds = (): number => Number(((performance.now() - startedAt) / 1_000).toFixed(1));
  if (startedAt > LONGEST_RUN_MS)
    return { target, rows: [], seconds: 0, broken: "not measured: the run has taken too long already" };
  current = createScope();
  const rounds = (full: number, quick: number): number => (options.quick ? quick : full);
  const rows: Row[] = [];
  const add = (...more: readonly Row[]): void => {
    rows.push(...more);
    for (const line of more.flatMap(rowLines)) say(line);
  };
  const problems: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`it did not end within ${LONGEST_TARGET_MS / 1_000} s`)),
        LONGEST_TARGET_MS,
      );
    });
    await Promise.race([target.measure({ scope: current, build, isQuick: options.quick, rounds, add }), tooLate]);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  clearTimeout(timer);
  await current.end().catch((error: unknown) => problems.push(String(error)));
  return { target, rows, seconds: seconds(), broken: problems.length === 0 ? null : problems.join("; ") };
}

function chosen(only: string | undefined): readonly Target[] {
  if (only === undefined) return TARGETS;
  const numbers = only.split(",").map(Number);
  const unknown = numbers.find((number) => !TARGETS.some((target) => target.number === number));
  if (unknown === undefined) return TARGETS.filter((target) => numbers.includes(target.number));
  console.error(`There is no target ${unknown}; there are: ${TARGETS.map((target) => target.number).join(", ")}.`);
  process.exit(2);
}

function conclude(all: readonly Outcome[]): void {
  const rows = all.flatMap((outcome) => outcome.rows);
  const broken = all.filter((outcome) => outcome.broken !== null);
  if (options.json) {
    const results = all.map(({ target, seconds, broken: why, ...outcome }) => ({
      target: target.number,
      title: target.title,
      seconds,
      broken: why,
      rows: outcome.rows.map((row) => ({ ...row, met: isMet(row) })),
    }));
    console.log(JSON.stringify({ about, results }, null, 2));
  }
  const asked = rows.filter((row) => isMet(row) !== null);
  const unmet = asked.filter((row) => isMet(row) === false);
  say(
    `\n${asked.length - unmet.length} of ${asked.length} figures meet their target; ${Math.round(performance.now() / 1_000)} s in all, load now ${describeMachine().loadAverage.join(" ")}`,
  );
  for (const row of unmet) say(`  NOT met: ${row.target}. ${row.what}`);
  process.exitCode = broken.length === 0 ? 0 : 1;
}

/** With --json, standard output holds one object and nothing else. */
function say(text: string): void {
  if (options.json) console.error(text);
  else console.log(text);
}
