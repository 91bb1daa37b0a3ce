import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Agent, AgentProgram } from "../../agent/contract.ts";
import { localFiles } from "../../runtime/local-files.ts";
import { createProgramFinder, type FoundProgram } from "./program-finder.ts";
import { noOptions } from "./settings.ts";
import { agentWith } from "../attention/watch-fixture.ts";

const program: AgentProgram = {
  command: "tool",
  versionArgs: ["--version"],
  readVersion: (output) => /tool (\d[\d.]*)/.exec(output)?.[1] ?? null,
  oldest: "1.2.0",
  install: "npm install -g tool",
  login: "tool login",
};
const agent: Agent = agentWith({ name: "tool", program });

let directory: string;
let bin: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-finder-"));
  bin = join(directory, "bin");
  mkdirSync(bin);
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Says its version, and writes down that it was asked. */
function writeScript(path: string, version: string): string {
  writeFileSync(path, `#!/bin/sh\necho "$@" >>'${join(directory, "asked")}'\necho tool ${version}\n`);
  chmodSync(path, 0o700);
  return path;
}

function writePackage(fields: object): string {
  const root = join(directory, "lib", "tool");
  mkdirSync(join(root, "dist"), { recursive: true });
  writeFileSync(join(root, "package.json"), JSON.stringify(fields));
  symlinkSync(writeScript(join(root, "dist", "cli.js"), "9.9.9"), join(bin, "tool"));
  return join(bin, "tool");
}

const asked = (): readonly string[] => {
  const path = join(directory, "asked");
  return existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
};
const paths = (): Record<string, string> => ({ PATH: `${bin}:/usr/bin:/bin` });
const find = (finder = createProgramFinder(() => noOptions)): Promise<FoundProgram | null> =>
  finder.find(agent, localFiles, { paths: paths(), cwd: "/" });

test("the version is that of the package it came in, and it is not run", async () => {
  const path = writePackage({ name: "@x/tool", version: "1.4.0", bin: { tool: "dist/cli.js" } });
  expect(await find()).toEqual({ path, version: "1.4.0" });
  expect(asked()).toEqual([]);
});

test.each([
  { name: "monorepo", version: "0.0.1" },
  { name: "other", version: "0.0.1", bin: { other: "x" } },
  { name: "tool", bin: { tool: "dist/cli.js" } },
  { name: "tool", version: "workspace", bin: { tool: "dist/cli.js" } },
])("a package that is not its own does not count: %j", async (fields) => {
  writePackage(fields);
  expect((await find())?.version).toBe("9.9.9");
  expect(asked()).toEqual(["--version"]);
});

test("a program without a package is asked, once per file", async () => {
  const path = writeScript(join(bin, "tool"), "1.3.1");
  const finder = createProgramFinder(() => noOptions);
  expect(await Promise.all([find(finder), find(finder)])).toEqual([
    { path, version: "1.3.1" },
    { path, version: "1.3.1" },
  ]);
  expect(await find(finder)).toEqual({ path, version: "1.3.1" });
  expect(asked()).toEqual(["--version"]);
  writeScript(path, "1.3.22");
  utimesSync(path, 1, 1);
  expect(await find(finder)).toEqual({ path, version: "1.3.22" });
});

test("one that does not say its version is started all the same", async () => {
  const path = join(bin, "tool");
  writeFileSync(path, "#!/bin/sh\necho no >&2\nexit 3\n");
  chmodSync(path, 0o700);
  expect(await find()).toEqual({ path, version: null });
});

test("a missing one is refused with how to get it", async () => {
  await expect(find()).rejects.toMatchObject({
    code: "agent-not-installed",
    kind: "usage",
    message: 'There is no program "tool" on the PATH, so tool cannot be started; install it with: npm install -g tool',
  });
});

test("one that cannot be executed is as good as missing", async () => {
  writeFileSync(join(bin, "tool"), "");
  await expect(find()).rejects.toMatchObject({ code: "agent-not-installed" });
});

test("one that is too old is refused, every time", async () => {
  writeScript(join(bin, "tool"), "1.1.9");
  const finder = createProgramFinder(() => noOptions);
  for (let time = 0; time < 2; time++)
    await expect(find(finder)).rejects.toMatchObject({
      code: "agent-too-old",
      kind: "usage",
      message: "The installed tool is 1.1.9; Reeve needs 1.2.0 or later: npm install -g tool",
    });
});

test("the settings may name another, also relative to where the session works", async () => {
  const path = writeScript(join(directory, "mine"), "2.0");
  const finder = createProgramFinder(() => ({ ...noOptions, command: ["./mine"] }));
  expect(await finder.find(agent, localFiles, { paths: paths(), cwd: directory })).toEqual({ path, version: "2.0" });
  await expect(finder.find(agent, localFiles, { paths: paths(), cwd: "/" })).rejects.toMatchObject({
    message: expect.stringContaining('There is no program "./mine"'),
  });
});

test("an agent that is no program of its own needs none", async () => {
  expect(
    await createProgramFinder(() => noOptions).find(agentWith({}), localFiles, { paths: paths(), cwd: "/" }),
  ).toBeNull();
});
