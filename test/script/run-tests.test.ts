/** The runner of the tests: what makes a run red, and what makes it green with a word about it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestedProject, type TestedProject } from "./tested-project.ts";

let project: TestedProject;
beforeEach(() => {
  project = createTestedProject();
});
afterEach(() => project.remove());

test("a file that always fails: red", async () => {
  project.write("good.test.ts", "");
  project.write("bad.test.ts", 'throw new Error("always")');
  const { status, stdout } = await project.run();
  expect(status).toBe(1);
  expect(stdout).not.toContain("flaky:");
  expect(stdout).toContain("bad.test.ts failed again.");
});

test("a file that fails once: green, told as flaky, with its whole failure; deep files are left out", async () => {
  project.write("good.test.ts", "");
  project.write("rare.test.ts", project.failsOnce("rare"));
  project.write("bad.deep.test.ts", 'throw new Error("always")');
  const { status, stdout, stderr } = await project.run();
  expect(status).toBe(0);
  expect(stderr).toMatch(/Error: only rare\nonce\n/);
  expect(stdout).toMatch(/\nflaky: rare\.test\.ts > it works: only rare once\n$/);
});

test("four files that fail once: red", async () => {
  for (const name of ["a", "b", "c", "d"]) project.write(`${name}.test.ts`, project.failsOnce(name));
  const { status, stdout } = await project.run();
  expect(status).toBe(1);
  expect(stdout).toContain("4 files failed; only up to 3 are run once more.");
});
