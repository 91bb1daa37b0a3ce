/** The package as npm would publish it: what it contains is enough for the program and for the client's types. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";

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

/** Unpacked, with its programs linked as npm links them. */
function installed(): { readonly bin: string; readonly programs: readonly string[] } {
  const target = join(directory, "installed");
  const bin = join(target, "node_modules", ".bin");
  const root = join(target, "node_modules", "reeve");
  mkdirSync(bin, { recursive: true });
  mkdirSync(root, { recursive: true });
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", target], { cwd: ROOT });
  const [archive = ""] = readdirSync(target).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["-xzf", join(target, archive), "-C", root, "--strip-components=1"]);
  const { bin: programs } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    bin: Record<string, string>;
  };
  for (const [name, path] of Object.entries(programs)) symlinkSync(join("..", "reeve", path), join(bin, name));
  return { bin, programs: Object.keys(programs) };
}

test("every program of the package runs and says how it is used (issue 7, 33)", async () => {
  const { bin, programs } = installed();
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
