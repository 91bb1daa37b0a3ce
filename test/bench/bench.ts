/**
 * The benchmark: each target as a ratio to a baseline measured in the same
 * run. Not a test: an unmet target is said, not failed; only a measurement
 * that could not be made ends with status 1.
 *
 *   npm run bench -- [--only 1,9] [--quick] [--json]
 */
import { parseArgs } from "node:util";
import { board } from "./board.ts";
import { captureProxy } from "./capture-proxy.ts";
import { catchUp } from "./catch-up.ts";
import { cliList } from "./cli-list.ts";
import { containers } from "./containers.ts";
import { doctor } from "./doctor.ts";
import { eventFanOut } from "./event-fan-out.ts";
import { eventRate } from "./event-rate.ts";
import { health } from "./health.ts";
import { idle } from "./idle.ts";
import { listSessions } from "./list-sessions.ts";
import { mcpCall } from "./mcp-call.ts";
import { memorySearch } from "./memory-search.ts";
import { recover } from "./recover.ts";
import { recovery } from "./recovery.ts";
import { search } from "./search.ts";
import { sendMessage } from "./send-message.ts";
import { sessionData } from "./session-data.ts";
import { startSession } from "./start-session.ts";
import { prepareBuild } from "./support/build.ts";
import { isMet } from "./support/measure.ts";
import { aboutLines, describeMachine, rowLines } from "./support/report.ts";
import { type Outcome, runTarget } from "./support/run-target.ts";
import { createScope } from "./support/scope.ts";
import type { Target } from "./support/target.ts";
import { terminalThroughput } from "./terminal-throughput.ts";
import { transcriptParse } from "./transcript-parse.ts";
import { turnEnd } from "./turn-end.ts";

const TARGETS: readonly Target[] = [
  startSession,
  listSessions,
  sessionData,
  turnEnd,
  eventFanOut,
  sendMessage,
  terminalThroughput,
  captureProxy,
  recovery,
  idle,
  eventRate,
  search,
  memorySearch,
  cliList,
  transcriptParse,
  catchUp,
  board,
  mcpCall,
  health,
  containers,
  recover,
  doctor,
];

/** A target that says nothing else and takes longer than this hangs. The whole run may take what its targets take. */
const LONGEST_TARGET_MS = 600_000;

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});
const targets = chosen(options.only);
const run = createScope();
/** Whatever the target under way has started. */
let current = createScope();
let isInterrupted = false;

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    isInterrupted = true;
    say(`\n${signal}: ending what was started`);
    void endAll().finally(() => process.exit(130));
  });
}

const about = describeMachine();
for (const line of aboutLines(about)) say(line);
const outcomes: Outcome[] = [];
const skipped: { readonly target: Target; readonly impediment: string }[] = [];
try {
  const build = await prepareBuild(run);
  for (const target of targets) {
    if (isInterrupted) break;
    current = createScope();
    say(`\n${target.number}. ${target.title}`);
    const impediment = target.impediment?.() ?? null;
    if (impediment !== null) {
      say(`  skipped: ${impediment}`);
      skipped.push({ target, impediment });
      continue;
    }
    const outcome = await runTarget(target, {
      scope: current,
      build,
      isQuick: options.quick,
      limitMs: target.longestMs ?? LONGEST_TARGET_MS,
      onRow: (row) => rowLines(row).forEach(say),
    });
    outcomes.push(outcome);
    if (outcome.broken !== null) say(`  BROKEN: ${outcome.broken}`);
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await endAll();
}
if (!isInterrupted) conclude();

async function endAll(): Promise<void> {
  for (const scope of [current, run]) await scope.end().catch((error: unknown) => console.error(String(error)));
}

function chosen(only: string | undefined): readonly Target[] {
  if (only === undefined) return TARGETS;
  const numbers = only.split(",").map(Number);
  const unknown = numbers.find((number) => !TARGETS.some((target) => target.number === number));
  if (unknown === undefined) return TARGETS.filter((target) => numbers.includes(target.number));
  console.error(`There is no target ${unknown}; there are: ${TARGETS.map((target) => target.number).join(", ")}.`);
  process.exit(2);
}

function conclude(): void {
  if (options.json) {
    const results = outcomes.map(({ target: { number, title }, seconds, broken, rows }) => {
      return { target: number, title, seconds, broken, rows: rows.map((row) => ({ ...row, met: isMet(row) })) };
    });
    const notMeasured = skipped.map(({ target: { number, title }, impediment }) => {
      return { target: number, title, why: impediment };
    });
    console.log(JSON.stringify({ about, results, skipped: notMeasured }, null, 2));
  }
  const asked = outcomes.flatMap(({ rows }) => rows).filter((row) => isMet(row) !== null);
  const unmet = asked.filter((row) => isMet(row) === false);
  const seconds = Math.round(performance.now() / 1_000);
  const load = describeMachine().loadAverage.join(" ");
  say(`\n${asked.length - unmet.length} of ${asked.length} figures meet their target (${seconds} s, load now ${load})`);
  for (const row of unmet) say(`  NOT met: ${row.target}. ${row.what}`);
  for (const { target, impediment } of skipped) say(`  skipped: ${target.number}. ${target.title}: ${impediment}`);
  for (const { target, broken } of outcomes)
    if (broken !== null) say(`  BROKEN: ${target.number}. ${target.title}: ${broken}`);
  if (outcomes.some(({ broken }) => broken !== null)) process.exitCode = 1;
}

/** With --json, standard output holds one object and nothing else. */
function say(text: string): void {
  if (options.json) console.error(text);
  else console.log(text);
}
