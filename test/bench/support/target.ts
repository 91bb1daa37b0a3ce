/** One line of the table of targets: how it is measured, and with what. */
import type { Build } from "./build.ts";
import type { Row } from "./measure.ts";
import type { Scope } from "./scope.ts";

export interface Target {
  /** As in the table of targets. */
  readonly number: number;
  readonly title: string;
  /** What takes longer than this hangs; ten minutes if nothing is said. */
  readonly longestMs?: number;
  /** Why it cannot be measured on this machine; null where it can. */
  impediment?(): string | null;
  /** Adds its rows one by one: those measured before something breaks are kept. */
  measure(bench: Bench): Promise<void>;
}

export interface Bench {
  add(...rows: readonly Row[]): void;
  readonly scope: Scope;
  readonly build: Build;
  readonly isQuick: boolean;
  /** How many rounds: the first number, or in a quick run the second. */
  rounds(full: number, quick: number): number;
}
