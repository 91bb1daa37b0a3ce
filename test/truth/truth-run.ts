/** Draws cases for so long, a few at a time, and looks for the shortest way to repeat each kind of failure. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Case, Mode } from "./case.ts";
import { formatCase, parseCase } from "./case.ts";
import type { Finding, Kind } from "./finding.ts";
import type { Machine } from "./machine.ts";
import type { Options } from "./options.ts";
import type { CaseResult } from "./run-case.ts";
import { runCase } from "./run-case.ts";
import { drawCase } from "./scenario.ts";
import { shrink } from "./shrink.ts";
import { timelineOf } from "./timeline.ts";

export interface Failure {
  readonly mode: Mode;
  readonly kind: Kind;
  /** How often in this run. */
  readonly times: number;
  /** One of them. */
  readonly finding: Finding;
  readonly name: string;
  readonly theCase: Case;
}

export interface TruthRun {
  readonly results: readonly CaseResult[];
  /** One for each agent mode and kind. */
  readonly failures: readonly Failure[];
}

/** Once it is `enough`, the cases under way are the last, and nothing is made shorter. */
export async function runTruth(
  options: Options,
  machine: Machine,
  say: (line: string) => void,
  enough: AbortSignal,
): Promise<TruthRun> {
  const results: CaseResult[] = [];
  const failures = new Map<string, Failure>();

  async function run(name: string, theCase: Case): Promise<void> {
    const began = Date.now();
    const result = await runCase(theCase, machine);
    results.push(result);
    const found = result.lanes.flatMap(({ mode, findings }) => findings.map((finding) => ({ mode, finding })));
    const turns = result.lanes.reduce((sum, lane) => sum + lane.turns, 0);
    const took = Math.round((Date.now() - began) / 1_000);
    say(`${found.length === 0 ? "ok    " : "FAILED"} ${name} (${took} s, ${turns} turns) ${formatCase(theCase)}`);
    for (const { mode, finding } of found) say(`       ${mode}: ${finding.kind}: ${finding.text}`);
    for (const { mode, finding } of found) {
      const key = `${mode} ${finding.kind}`;
      const known = failures.get(key);
      const isShorter = known === undefined || sizeOf(theCase) < sizeOf(known.theCase);
      const next = isShorter ? { mode, kind: finding.kind, finding, name, theCase } : known;
      failures.set(key, { ...next, times: (known?.times ?? 0) + 1 });
    }
    if (found.length > 0 && options.keep !== null) keep(options.keep, `${results.length}-${name}`, theCase, result);
  }

  if (options.repeat.length > 0) {
    for (const text of options.repeat)
      for (let time = 1; time <= options.times && !enough.aborted; time++)
        await run(`repeat ${time}`, repeatedCase(text, options));
    return { results, failures: [...failures.values()] };
  }
  const endsAt = Date.now() + options.minutes * 60_000;
  let next = 0;
  await inParallel(options.parallel, async () => {
    if (enough.aborted || Date.now() > endsAt || next >= options.cases) return false;
    const number = next++;
    await run(`${options.seed}/${number}`, drawCase(options.seed, number, { modes: options.agents }));
    return true;
  });
  return { results, failures: await shortened([...failures.values()], options, machine, enough) };
}

/** Each kind of failure once, as short as it could be made; what does not come again stays as it was. */
async function shortened(
  failures: readonly Failure[],
  options: Options,
  machine: Machine,
  enough: AbortSignal,
): Promise<readonly Failure[]> {
  const queue = failures.map((failure, at) => ({ failure, at }));
  const done: Failure[] = [...failures];
  await inParallel(options.parallel, async () => {
    const one = queue.shift();
    if (one === undefined || enough.aborted) return false;
    const { mode, kind, theCase } = one.failure;
    const shows = async (candidate: Case): Promise<boolean> =>
      !enough.aborted &&
      (await runCase(candidate, machine)).lanes.some(
        (lane) => lane.mode === mode && lane.findings.some((finding) => finding.kind === kind),
      );
    done[one.at] = { ...one.failure, theCase: await shrink(theCase, shows, options.shrink) };
    return true;
  });
  return done;
}

async function inParallel(workers: number, step: () => Promise<boolean>): Promise<void> {
  const work = async (): Promise<void> => {
    while (await step());
  };
  await Promise.all(Array.from({ length: workers }, work));
}

function repeatedCase(text: string, { agents }: Options): Case {
  const [, seed, number] = /^([^/|:]+)\/(\d+)$/.exec(text) ?? [];
  return seed === undefined ? parseCase(text) : drawCase(seed, Number(number), { modes: agents });
}

function sizeOf(theCase: Case): number {
  return formatCase(theCase).length;
}

function keep(dir: string, name: string, theCase: Case, result: CaseResult): void {
  const base = join(dir, name.replaceAll(/\W+/g, "-"));
  const found = result.lanes.flatMap(({ mode, findings }) =>
    findings.map(({ kind, text }) => `${mode}: ${kind}: ${text}`),
  );
  const timelines = result.lanes.map(({ mode, history }) => `${mode}\n${timelineOf(history)}`);
  mkdirSync(dir, { recursive: true });
  writeFileSync(`${base}.json`, JSON.stringify({ case: formatCase(theCase), result }, null, 1));
  writeFileSync(`${base}.txt`, [formatCase(theCase), ...found, "", ...timelines, ""].join("\n"));
}
