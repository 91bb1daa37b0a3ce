/** Somebody whose directory was deleted under them: no stack trace, and only what needs a directory fails. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Result, TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

let count = 0;
function fromNowhere(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Result> {
  const gone = join(home.dir, `gone-${++count}`);
  mkdirSync(gone);
  const script = `cd '${gone}' && rmdir '${gone}' && exec "$@"`;
  return runProgram("bash", ["-c", script, "bash", REEVE, ...args], { ...home.environment, ...environment });
}

/** What the shells in between say of the directory. */
const reeveSaid = ({ stderr }: Result): string =>
  stderr
    .split("\n")
    .filter((line) => !/getcwd|cannot access parent/.test(line))
    .join("\n");

const NO_DIRECTORY = "The directory you are in no longer exists; go to another one with cd and try again.\n";

test("commands that need no directory work, from the first one that starts the daemon", async () => {
  for (const args of [
    ["list", "--json"],
    ["start", "practice", "--name", "somewhere", "--cwd", home.dir, "say hello", "--wait"],
    ["send", "somewhere", "more", "--wait"],
    ["data", "somewhere"],
    ["events", "somewhere"],
    ["explain", "somewhere"],
    ["doctor", "--json"],
    ["restart", "somewhere"],
    ["daemon", "status"],
    ["help"],
    ["--version"],
    ["completion", "bash"],
    ["attach", "somewhere", "--json"],
    ["end", "somewhere"],
  ]) {
    const result = await fromNowhere(args);
    expect({ args, status: result.status, said: reeveSaid(result) }).toMatchObject({
      args,
      status: 0,
      said: expect.not.stringMatching(/ENOENT|at \S+ \(/) as string,
    });
  }
});

test("what needs one says so in a sentence, and starts nothing", async () => {
  for (const args of [
    ["start", "practice", "--name", "nowhere", "say hello"],
    ["start", "practice", "--name", "nowhere", "--cwd", "below", "say hello"],
    ["start", "practice", "--name", "nowhere", "--cwd", home.dir, "--env-file", "relative"],
    ["send", "somewhere", "--file", "relative"],
  ]) {
    const result = await fromNowhere(args);
    expect({ args, status: result.status, stdout: result.stdout, said: reeveSaid(result) }).toEqual({
      args,
      status: 2,
      stdout: "",
      said: NO_DIRECTORY,
    });
  }
  const { stdout } = await fromNowhere(["start", "practice", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "no-directory" } });
  const relativeHome = await fromNowhere(["list"], { REEVE_HOME: "relative" });
  expect({ status: relativeHome.status, said: reeveSaid(relativeHome) }).toEqual({ status: 2, said: NO_DIRECTORY });
  expect((await home.list()).map(({ name }) => name)).not.toContain("nowhere");
});
