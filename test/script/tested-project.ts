/** A small project with tests of its own, run as `npm test` runs the real ones. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runProgram } from "../support/test-home.ts";

const ROOT = join(import.meta.dirname, "..", "..");

export interface TestedProject {
  /** A file with one test, which runs these lines. */
  write(name: string, body: string): void;
  /** Lines that fail the first time that they are run. */
  failsOnce(name: string): string;
  run(floor?: string): ReturnType<typeof runProgram>;
  remove(): void;
}

export function createTestedProject(): TestedProject {
  // Below node_modules, so that its files find vitest.
  const project = mkdtempSync(join(ROOT, "node_modules", ".cache-run-tests-"));
  mkdirSync(join(project, "marks"));
  const config = join(project, "vitest.config.ts");
  writeFileSync(
    config,
    `import { FailedTests } from ${JSON.stringify(join(ROOT, "script", "failed-tests.ts"))};
     import { filesOf, parseFloor } from ${JSON.stringify(join(ROOT, "script", "test-floor.ts"))};
     const files = filesOf(parseFloor(process.env["REEVE_TEST_FLOOR"]), ["*.test.ts"]);
     export default { test: { ...files, reporters: ["default", new FailedTests()] } };`,
  );
  return {
    write(name, body) {
      writeFileSync(
        join(project, name),
        `import { existsSync, writeFileSync } from "node:fs";
         import { test } from "vitest";
         test("it works", () => { ${body} });`,
      );
    },
    failsOnce(name) {
      const mark = JSON.stringify(join(project, "marks", name));
      return `if (!existsSync(${mark})) { writeFileSync(${mark}, ""); throw new Error("only ${name}\\nonce"); }`;
    },
    run: (floor = "gate") =>
      runProgram(
        process.execPath,
        [join(ROOT, "script", "run-tests.ts"), floor, "--root", project, "--config", config],
        { PATH: process.env["PATH"] ?? "", TMPDIR: tmpdir(), NO_COLOR: "1" },
        undefined,
        project,
      ),
    remove: () => rmSync(project, { recursive: true, force: true }),
  };
}
