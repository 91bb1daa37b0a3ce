/**
 * Tells which tests failed: at once while the others run, and all of them once more as the last lines, where whoever
 * sees only the end of a long log still finds them. With REEVE_FAILED_TESTS it also writes them into that file for
 * run-tests.ts: one JSON line each, and how the run ended as the last line, a JSON string.
 */
import { appendFileSync } from "node:fs";
import type { Reporter, SerializedError, TestCase, TestModule, TestRunEndReason, Vitest } from "vitest/node";

export interface FailedTest {
  /** Null if the error belongs to no file: nobody knows then what to run again. */
  readonly file: string | null;
  readonly test: string;
  readonly reason: string;
}

export class FailedTests implements Reporter {
  readonly #failures: FailedTest[] = [];
  readonly #print: (line: string) => void;
  readonly #file: string | undefined;

  constructor(print: (line: string) => void = (line) => process.stdout.write(`${line}\n`)) {
    this.#print = print;
    this.#file = process.env["REEVE_FAILED_TESTS"];
  }

  onInit(vitest: Vitest): void {
    vitest.onClose(() => {
      if (this.#failures.length === 0) return;
      this.#print(`\n${this.#failures.length} failed:`);
      for (const failure of this.#failures) this.#print(told(failure));
    });
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === "failed") this.#add(test.module.relativeModuleId, test.fullName, errors[0]?.message);
  }

  onTestModuleEnd(module: TestModule): void {
    const [error] = module.errors();
    if (error !== undefined) this.#add(module.relativeModuleId, "the file itself", error.message);
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly SerializedError[], reason: TestRunEndReason): void {
    for (const { message } of unhandled) this.#add(null, "outside of any test", message);
    this.#write(reason);
  }

  #add(file: string | null, test: string, message = "no message"): void {
    const failure = { file, test, reason: message.split("\n", 4).join(" ").slice(0, 400) };
    this.#failures.push(failure);
    this.#print(told(failure));
    this.#write(failure);
  }

  #write(line: FailedTest | TestRunEndReason): void {
    if (this.#file !== undefined) appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }
}

const told = ({ file, test, reason }: FailedTest): string =>
  `FAILED: ${file === null ? "" : `${file} > `}${test}: ${reason}`;
