/** The package as npm would publish it: what it contains is enough for the program and for the client's types. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
