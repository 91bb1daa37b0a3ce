import { join, relative } from "node:path";
import { defineConfig } from "vitest/config";
import { isSealed, seal } from "./script/sealed.ts";

const source = join(import.meta.dirname, "src");

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
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Two cores: two files at a time, each of which drives real processes.
    maxWorkers: 2,
    // Far more than anything takes: a busy machine is no reason to fail.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
