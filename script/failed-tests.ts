/**
 * Tells which tests failed: at once while the others run, and all of them once more as the last lines, where whoever
 * sees only the end of a long log still finds them.
 */
import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

interface Failure {
  readonly test: string;
  readonly reason: string;
}

export class FailedTests implements Reporter {
  readonly #failures: Failure[] = [];
  readonly #print: (line: string) => void;

  constructor(print: (line: string) => void = (line) => process.stdout.write(`${line}\n`)) {
    this.#print = print;
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
    if (state === "failed") this.#add(`${test.module.relativeModuleId} > ${test.fullName}`, errors[0]?.message);
  }

  onTestModuleEnd(module: TestModule): void {
    const [error] = module.errors();
    if (error !== undefined) this.#add(module.relativeModuleId, error.message);
  }

  #add(test: string, message = "no message"): void {
    const failure = { test, reason: message.split("\n", 4).join(" ").slice(0, 400) };
    this.#failures.push(failure);
    this.#print(told(failure));
  }
}

const told = ({ test, reason }: Failure): string => `FAILED: ${test}: ${reason}`;
