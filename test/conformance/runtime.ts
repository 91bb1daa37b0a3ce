/**
 * What every runtime must do, whatever it is made of. A runtime's own test file
 * calls `describeRuntime` with a way to make one on private ground.
 */
import { describe } from "vitest";
import { type RuntimeFixture, useGround } from "./runtime-ground.ts";
import { testFiles } from "./runtime-files.ts";
import { testLife } from "./runtime-life.ts";
import { testProcesses } from "./runtime-processes.ts";
import { testTerminal } from "./runtime-terminal.ts";
import { testViews } from "./runtime-views.ts";

export function describeRuntime(name: string, makeFixture: () => Promise<RuntimeFixture>): void {
  describe(`${name} holds the runtime contract`, { timeout: 30_000 }, () => {
    const ground = useGround(makeFixture);
    testLife(ground);
    testProcesses(ground);
    testTerminal(ground);
    testFiles(ground);
    testViews(ground);
  });
}
