/** Measures one target within a time limit; whatever comes of it, what it started is ended. */
import type { Build } from "./build.ts";
import type { Row } from "./measure.ts";
import type { Scope } from "./scope.ts";
import type { Target } from "./target.ts";

export interface Outcome {
  readonly target: Target;
  readonly rows: readonly Row[];
  readonly seconds: number;
  /** Why it could not be measured, or not to the end. */
  readonly broken: string | null;
}

export interface RunOptions {
  readonly scope: Scope;
  readonly build: Build;
  readonly isQuick: boolean;
  readonly limitMs: number;
  /** Told of each row as it is measured. */
  readonly onRow: (row: Row) => void;
}

export async function runTarget(target: Target, options: RunOptions): Promise<Outcome> {
  const { scope, build, isQuick, limitMs, onRow } = options;
  const startedAt = performance.now();
  const rows: Row[] = [];
  const problems: string[] = [];
  let isOver = false;
  const bench = {
    scope,
    build,
    isQuick,
    rounds: (full: number, quick: number) => (isQuick ? quick : full),
    add: (...more: readonly Row[]) => {
      if (isOver) return;
      rows.push(...more);
      more.forEach(onRow);
    },
  };
  try {
    await within(limitMs, target.measure(bench));
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
  }
  isOver = true;
  await scope.end().catch((error: unknown) => problems.push(String(error)));
  const seconds = Number(((performance.now() - startedAt) / 1_000).toFixed(1));
  return { target, rows, seconds, broken: problems.length === 0 ? null : problems.join("; ") };
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not end within ${Math.round(ms / 1_000)} s`)), ms);
  });
  await Promise.race([work, tooLate]).finally(() => clearTimeout(timer));
}
