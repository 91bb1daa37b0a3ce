/**
 * The order of the test files. Vitest begins with the largest file, but the longest tests are small files that share a
 * suite (test/real-agents/agent-suite.ts): at the end, one after the other, they would keep everybody waiting.
 */
import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

const LONGEST = /\/test\/real-agents\/(?:claude|codex-app-server|codex-hooks|gemini)\.test\.ts$/;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not of an array
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
