/**
 * Blocks of tests that mostly wait, a few at a time; the tests of one block run
 * in turn, because they share what it made. Blocks must share nothing.
 */
import { describe, vi } from "vitest";

interface Options {
  readonly timeout: number;
}

/** So many agents come up at once without keeping one another from it, on two cores with another file beside them. */
const AT_ONCE = 3;

export function sideBySide(title: string, options: Options, tests: () => void): void {
  sideBySide.each([null])(title, options, tests);
}

sideBySide.each =
  <T>(cases: readonly T[]) =>
  (title: string, options: Options, tests: (one: T) => void): void => {
    vi.setConfig({ maxConcurrency: AT_ONCE });
    describe.each(cases)(title, { ...options, concurrent: true }, (one) => {
      describe("in turn", { concurrent: false }, () => tests(one));
    });
  };
