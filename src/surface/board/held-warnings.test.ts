import { afterEach, expect, test } from "vitest";
import { holdWarnings } from "./held-warnings.ts";

const printed: string[] = [];
const print = (warning: Error): void => void printed.push(warning.message);
process.on("warning", print);
afterEach(() => void process.off("warning", print));

test("a warning of the runtime is printed when the terminal is given back, and not before", async () => {
  const letGo = holdWarnings();
  process.emitWarning("held");
  await new Promise((resolve) => setImmediate(resolve));
  expect(printed).toEqual([]);
  letGo();
  expect(printed).toEqual(["held"]);
  process.emitWarning("at once");
  await new Promise((resolve) => setImmediate(resolve));
  expect(printed).toEqual(["held", "at once"]);
});
