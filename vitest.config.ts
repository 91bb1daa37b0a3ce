import { join, relative } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { FailedTests } from "./script/failed-tests.ts";
import { LongestFirst } from "./script/longest-first.ts";
import { isSealed, seal } from "./script/sealed.ts";

const source = join(import.meta.dirname, "src");

/** Rooms without files, processes and clocks of their own: their tests share a worker, and load each module once. */
const PURE = ["agent", "fleet", "session"].map((room) => `src/${room}/**/*.test.ts`);

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from one
export default defineConfig({
  plugins: [
    {
      // What must ask a runtime has nothing else to ask while it is tested.
      name: "sealed",
      enforce: "pre",
      transform: (code, id) => (isSealed(relative(source, id)) ? { code: seal(code), map: null } : undefined),
    },
  ],
  test: {
    reporters: ["default", new FailedTests()],
    // On two cores: each file drives real processes, and mostly waits for them.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Far more than anything takes: a busy machine is no reason to fail.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    projects: [
      { extends: true, test: { name: "pure", include: PURE, isolate: false } },
      {
        extends: true,
        test: {
          name: "whole",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...PURE],
        },
      },
    ],
  },
});
