/**
 * A short run of the truth harness, always the
 * same cases, with every agent. What is found is printed with the command that
 * repeats it. The long run: npm run truth.
 */
import { expect, test } from "vitest";
import { MODES } from "./case.ts";
import { watchMachine } from "./machine.ts";
import { readOptions } from "./options.ts";
import { failuresText } from "./report.ts";
import { runTruth } from "./truth-run.ts";

/** Every wait inside is on a condition; this only ends what hangs. */
const PATIENCE = 600_000;
const OPTIONS = ["--seed", "test", "--cases", "8", "--minutes", "60", "--shrink", "0"];

test("nothing that is claimed is untrue", { timeout: PATIENCE }, async () => {
  const machine = watchMachine();
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const { results, failures } = await runTruth(readOptions(OPTIONS), machine, say, new AbortController().signal);
  machine.stop();
  const modes = results.flatMap(({ lanes }) => lanes.map(({ mode }) => mode));
  expect(new Set(modes)).toEqual(new Set(MODES));
  expect(failuresText(failures), lines.join("\n")).toBe("Nothing that was claimed was untrue.");
});
