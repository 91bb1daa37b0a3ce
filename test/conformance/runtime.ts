/**
 * What every runtime must do, whatever it is made of. A runtime's own test file
 * calls `describeRuntime` with a way to make one on private ground.
 */
import { beforeEach, describe } from "vitest";
import { type RuntimeFixture, useGround } from "./runtime-ground.ts";
import { testFiles } from "./runtime-files.ts";
import { testLife } from "./runtime-life.ts";
import { testProcesses } from "./runtime-processes.ts";
import { testTerminal } from "./runtime-terminal.ts";
import { testViews } from "./runtime-views.ts";
import { testVitals } from "./runtime-vitals.ts";

export interface SuiteOptions {
  /** By the name of a test: why this runtime cannot pass it. */
  readonly skips?: Readonly<Record<string, string>>;
  /** The names of those that run, where not all do, and why. */
  readonly only?: { readonly names: readonly string[]; readonly why: string };
  readonly timeout?: number;
}

export function describeRuntime(
  name: string,
  makeFixture: () => Promise<RuntimeFixture>,
  { skips = {}, only, timeout = 60_000 }: SuiteOptions = {},
): void {
  describe(`${name} holds the runtime contract`, { timeout }, () => {
    beforeEach(({ task, skip }) => {
      const why = skips[task.name] ?? (only?.names.includes(task.name) === false ? only.why : undefined);
      if (why !== undefined) skip(why);
    });
    const ground = useGround(makeFixture);
    testLife(ground);
    testProcesses(ground);
    testVitals(ground);
    testTerminal(ground);
    testFiles(ground);
    testViews(ground);
  });
}
