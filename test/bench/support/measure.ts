/**
 * What a measurement is made of: samples taken alternately, so that subject
 * and baseline meet the same machine, and rows that hold one against the other.
 */

export interface Summary {
  readonly median: number;
  /** Nine of ten are at least as good as this. */
  readonly p90: number;
  readonly count: number;
}

export type Unit = "ms" | "MB" | "MB/s" | "events/s" | "%";

export interface Limit {
  readonly kind: "at-most" | "at-least";
  readonly value: number;
  /** Of which figure: the ratio, or the subject itself. */
  readonly of: "ratio" | "subject";
}

export interface Row {
  readonly target: number;
  readonly what: string;
  readonly unit: Unit;
  readonly subject: Summary;
  readonly baseline: Summary;
  readonly baselineName: string;
  /** The median of the rounds' own ratios, where each round has one. */
  readonly ratio: number;
  /** Null: told for information. */
  readonly limit: Limit | null;
  /** A condition beside the limit that did not hold. */
  readonly failed: string | null;
  readonly note: string | null;
}

export interface Comparison {
  readonly target: number;
  readonly what: string;
  readonly unit?: Unit;
  readonly subject: readonly number[];
  readonly baseline: readonly number[];
  readonly baselineName: string;
  readonly limit?: Limit;
  readonly failed?: string | null;
  readonly note?: string;
  /** The ratio of the medians, instead of the median of the rounds' own. */
  readonly ofMedians?: boolean;
}

export function compare(comparison: Comparison): Row {
  const { target, what, subject, baseline, baselineName } = comparison;
  const isRate = comparison.limit?.kind === "at-least";
  const isPaired = subject.length === baseline.length && comparison.ofMedians !== true;
  const ratios = subject.map((value, index) => value / (baseline[index] ?? Number.NaN));
  const ratio = isPaired ? summarize(ratios).median : summarize(subject).median / summarize(baseline).median;
  return {
    target,
    what,
    unit: comparison.unit ?? "ms",
    subject: summarize(subject, isRate),
    baseline: summarize(baseline, isRate),
    baselineName,
    ratio,
    limit: comparison.limit ?? null,
    failed: comparison.failed ?? null,
    note: comparison.note ?? null,
  };
}

export const atMost = (value: number, of: Limit["of"] = "ratio"): Limit => ({ kind: "at-most", value, of });
export const atLeast = (value: number): Limit => ({ kind: "at-least", value, of: "ratio" });

/**
 * Of one thing in two daemons in turns, where there should be no difference. Two processes of one build that do the same
 * differ by up to 7 % in the median of their rounds on a busy machine.
 */
export const NO_WORSE = atMost(1.1);

/** Null where nothing is asked of the row. */
export function isMet({ limit, failed, ratio, subject }: Row): boolean | null {
  if (failed !== null) return false;
  if (limit === null) return null;
  const figure = limit.of === "ratio" ? ratio : subject.median;
  return limit.kind === "at-most" ? figure <= limit.value : figure >= limit.value;
}

export function summarize(values: readonly number[], isMoreBetter = false): Summary {
  if (values.length === 0) throw new Error("nothing was measured");
  const sorted = values.toSorted((one, other) => (isMoreBetter ? other - one : one - other));
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
  return { median, p90: sorted[Math.ceil(sorted.length * 0.9) - 1] ?? Number.NaN, count: sorted.length };
}

/** One sample of each figure it names. */
export type Task = () => Promise<Readonly<Record<string, number>>>;

export interface Rounds {
  readonly count: number;
  /** Run before, and not counted. */
  readonly warmUp: number;
  /** Before each task, so that what one leaves behind is not billed to the other. */
  readonly pauseMs: number;
}

/** Runs the tasks in turn, every second round backwards. Gives the samples of a figure, in order. */
export async function alternate(
  rounds: Rounds,
  tasks: readonly Task[],
): Promise<(figure: string) => readonly number[]> {
  const samples = new Map<string, number[]>();
  for (let round = -rounds.warmUp; round < rounds.count; round += 1) {
    for (const task of round % 2 === 0 ? tasks : tasks.toReversed()) {
      if (rounds.pauseMs > 0) await sleep(rounds.pauseMs);
      const figures = await task();
      if (round < 0) continue;
      for (const [name, value] of Object.entries(figures)) {
        const list = samples.get(name);
        if (list === undefined) samples.set(name, [value]);
        else list.push(value);
      }
    }
  }
  return (figure) => samples.get(figure) ?? [];
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
