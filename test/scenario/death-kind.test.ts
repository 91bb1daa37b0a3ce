/** A process that says why it dies gets that for its kind of failure. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { eventually } from "../support/eventually.ts";

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

test("out of memory, killed, and a crash that only quotes it", { timeout: 60_000 }, async () => {
  const heap = "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory";
  const scripts = {
    heap: `echo "${heap}"; exit 134`,
    killed: "kill -9 $$",
    crash: `echo "${heap}"; for i in $(seq 60); do echo "line $i"; done; exit 1`,
  };
  const kinds: Record<string, unknown> = {};
  for (const [name, script] of Object.entries(scripts)) {
    await home.json("start", "command", "--name", name, "--", "sh", "-c", script);
    await eventually(`${name} ended`, async () => (await home.session(name)).state === "error", 30_000);
    kinds[name] = (await home.session(name))["failure"];
  }
  expect(kinds).toEqual({ heap: "out-of-memory", killed: "killed", crash: "crash" });
  const told = (await home.events()).filter(({ type }) => type === "session-exited");
  expect(told.map(({ data }) => (data as { readonly failure?: string }).failure)).toEqual([
    "out-of-memory",
    "killed",
    "crash",
  ]);
});
