import { join, relative } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { FailedTests } from "./script/failed-tests.ts";
import { LongestFirst } from "./script/longest-first.ts";
import { isSealed, seal } from "./script/sealed.ts";
import { filesOf, parseFloor } from "./script/test-floor.ts";

const source = join(import.meta.dirname, "src");
/** Without a word about it, both: whoever names a file gets it. */
const floor = parseFloor(process.env["REEVE_TEST_FLOOR"]);

const { include, exclude } = filesOf(floor, ["src/**/*.test.ts", "test/**/*.test.ts"]);

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
    setupFiles: ["./script/test-directory.ts"],
    // On two cores: each file drives real processes, and mostly waits for them.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Far more than anything takes: a busy machine is no reason to fail.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    teardownTimeout: 10_000,
    // Files of one worker share what is loaded: a worker for each would take a second of processor time per file.
    isolate: false,
    include,
    exclude: [...configDefaults.exclude, ...exclude],
  },
});
