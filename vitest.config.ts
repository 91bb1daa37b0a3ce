import { defineConfig } from "vitest/config";

// oxlint-disable-next-line import/no-default-export -- vitest reads its configuration from one
export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    // Two cores: two files at a time, each of which drives real processes.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
  },
});
