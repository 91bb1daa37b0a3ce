/** The package as npm would publish it: what it contains is enough for the program and for the client's types; installed, it works from any directory. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readCommandLine } from "../../src/platform/process-table.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";
import { installGlobally } from "./install-package.ts";

const ROOT = join(import.meta.dirname, "..", "..");
let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "reeve-package-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("a program that imports reeve/client type-checks against nothing but its declared dependencies", () => {
  const { files, dependencies, exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    files: string[];
    dependencies: Record<string, string>;
    exports: object;
  };
  expect(files).toEqual(expect.arrayContaining(["bin", "dist"]));
  expect(exports).toHaveProperty(["./client"]);
  const modules = join(directory, "node_modules");
  mkdirSync(join(modules, "reeve"), { recursive: true });
  for (const name of ["package.json", "dist"]) symlinkSync(join(ROOT, name), join(modules, "reeve", name));
  for (const name of [...Object.keys(dependencies), "@types", "undici-types"])
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  const program = /```ts\n([^]*?)```/.exec(readFileSync(join(ROOT, "README.md"), "utf8"))?.[1] ?? "";
  writeFileSync(join(directory, "program.mts"), `${program}\nexport { reason };\n`);
  const options = {
    module: "nodenext",
    target: "es2024",
    strict: true,
    noEmit: true,
    types: ["node"],
    preserveSymlinks: true,
    skipLibCheck: false,
  };
  writeFileSync(
    join(directory, "tsconfig.json"),
    JSON.stringify({ compilerOptions: options, include: ["program.mts"] }),
  );
  const run = (): string =>
    execFileSync(join(ROOT, "node_modules", ".bin", "tsc"), ["-p", directory], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  let output = "";
  try {
    output = run();
  } catch (error) {
    output = String((error as { stdout?: string }).stdout);
  }
  expect(output).toBe("");
});

let installed: ReturnType<typeof installGlobally>;
beforeAll(() => {
  installed = installGlobally(join(directory, "prefix"));
}, 120_000);

test("every program of the package runs and says how it is used", async () => {
  const { bin, programs } = installed;
  expect(programs).toEqual(["reeve", "reeve-scripted-model"]);
  const environment = { PATH: process.env["PATH"], HOME: directory };
  for (const name of programs) {
    const { status, stdout } = spawnSync(join(bin, name), ["--help"], { encoding: "utf8", env: environment });
    expect({ name, status, stdout }).toEqual({ name, status: 0, stdout: expect.stringContaining(`Usage: ${name} `) });
  }
  const completion = spawnSync(join(bin, "reeve"), ["completion", "fish"], { encoding: "utf8", env: environment });
  expect(completion).toMatchObject({ status: 0, stdout: expect.stringContaining("__reeve_complete") as string });
  const model = spawn(join(bin, "reeve-scripted-model"), { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = (await once(createInterface(model.stdout), "line")) as [string];
    const { url, pid } = JSON.parse(line) as { url: string; pid: number };
    expect(pid).toBe(model.pid);
    expect((await fetch(`${url}/requests`)).status).toBe(200);
  } finally {
    model.kill("SIGTERM");
    await once(model, "exit");
  }
});

test("no link of an installed document is dead, and the picture is there", () => {
  const { root } = installed;
  const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });
  const links = documents.flatMap((document) =>
    [...readFileSync(join(root, document), "utf8").matchAll(/\]\(([^)\s]+)\)/g)]
      .map((link) => (link[1] ?? "").replace(/#.*/, ""))
      .filter((target) => target !== "" && !/^[a-z]+:/.test(target))
      .map((target) => ({ document, target })),
  );
  expect(links).toContainEqual({ document: "README.md", target: "docs/recording.svg" });
  expect(links).toContainEqual({ document: "README.md", target: "docs/guide/quick-start.md" });
  expect(links.filter(({ document, target }) => !existsSync(join(root, dirname(document), target)))).toEqual([]);
});

test("installed, it starts, lists and ends sessions from any directory, and removes itself", async () => {
  const home = createTestHome();
  try {
    const deep = join(home.dir, "a directory", "with spaces");
    const linked = join(home.dir, "linked");
    mkdirSync(deep, { recursive: true });
    symlinkSync(deep, linked);
    const environment = { ...home.environment, PATH: `${installed.bin}:${home.environment["PATH"] ?? ""}` };
    const type = (cwd: string, line: string) => runProgram("sh", ["-c", `cd '${cwd}' && ${line}`], environment);
    for (const [index, cwd] of ["/", deep, linked].entries()) {
      const name = `session-${index}`;
      expect(await type(cwd, `reeve start command --name ${name} -- sleep 600`)).toMatchObject({ status: 0 });
      const { stdout } = await type(cwd, "reeve list --json");
      expect((JSON.parse(stdout) as { sessions: object[] }).sessions).toMatchObject([{ name, state: "running" }]);
      expect(await type(cwd, "reeve list")).toMatchObject({
        status: 0,
        stdout: expect.stringContaining(name) as string,
      });
      expect(await type(cwd, `reeve end ${name}`)).toMatchObject({ status: 0 });
    }
    const daemon = await type("/", "reeve daemon status --json");
    const { pid } = JSON.parse(daemon.stdout) as { pid: number };
    expect(readCommandLine(pid)).toContain(
      join(directory, "prefix", "lib", "node_modules", "reeve", "dist", "daemon.cjs"),
    );
    expect(await type(deep, "reeve uninstall --data --yes")).toMatchObject({ status: 0, stderr: "" });
    expect(readdirSync(home.dir).toSorted()).toEqual([".cache", "a directory", "linked"]);
  } finally {
    await home.dispose();
  }
}, 60_000);
