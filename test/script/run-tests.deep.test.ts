/** The runner of the tests, the rarer cases. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestedProject, type TestedProject } from "./tested-project.ts";

let project: TestedProject;
beforeEach(() => {
  project = createTestedProject();
});
afterEach(() => project.remove());

test("all pass: green, and nothing is said", async () => {
  project.write("good.test.ts", "");
  const { status, stdout } = await project.run();
  expect(status).toBe(0);
  expect(stdout).not.toContain("flaky");
});

test("three files that fail once: flaky", async () => {
  for (const name of ["a", "b", "c"]) project.write(`${name}.test.ts`, project.failsOnce(name));
  const { status, stdout } = await project.run();
  expect(status).toBe(0);
  expect(stdout.match(/^flaky: .*$/gm)).toHaveLength(3);
});

test("a file that fails once beside one that always fails: red", async () => {
  project.write("rare.test.ts", project.failsOnce("rare"));
  project.write("bad.test.ts", 'throw new Error("always")');
  expect((await project.run()).status).toBe(1);
});

test.each([
  ["an error outside of all tests", 'void Promise.reject(new Error("nobody waits for this"))'],
  ["a run that is broken off", 'process.kill(process.ppid, "SIGKILL")'],
])("%s, beside a file that fails once: red", async (_what, body) => {
  project.write("rare.test.ts", project.failsOnce("rare"));
  project.write("loose.test.ts", body);
  expect((await project.run()).status).toBe(1);
});

test("the floors: the gate leaves deep files out, deep leaves the gate out, all takes both", async () => {
  project.write("quick.test.ts", "");
  project.write("slow.deep.test.ts", "");
  const filesIn = async (floor: string): Promise<readonly string[]> => {
    const { stdout } = await project.run(floor);
    return [...stdout.matchAll(/(\S+\.test\.ts) \(1 test\)/g)].map(([, file]) => file ?? "").toSorted();
  };
  expect(await filesIn("gate")).toEqual(["quick.test.ts"]);
  expect(await filesIn("deep")).toEqual(["slow.deep.test.ts"]);
  expect(await filesIn("all")).toEqual(["quick.test.ts", "slow.deep.test.ts"]);
});
