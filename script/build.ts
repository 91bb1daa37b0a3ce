/**
 * Builds dist/: the CLI as one CommonJS file (it starts fastest), the daemon,
 * the practice agent and the client as one ES module each, and the client's
 * types. Nothing is loaded from node_modules at run time.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");

interface Bundle {
  readonly input: string;
  readonly output: string;
  readonly format: "cjs" | "esm";
}

const bundles: readonly Bundle[] = [
  { input: "src/surface/cli/main.ts", output: "cli.cjs", format: "cjs" },
  { input: "src/daemon.ts", output: "daemon.js", format: "esm" },
  { input: "src/agent/practice/program.ts", output: "practice.js", format: "esm" },
  { input: "src/client/client.ts", output: "client.js", format: "esm" },
];

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
await Promise.all(bundles.map(build));
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.types.json"], { cwd: root, stdio: "inherit" });
// Written last: setup.sh takes it as the sign of a complete build.
writeFileSync(join(dist, ".built"), "");

async function build({ input, output, format }: Bundle): Promise<void> {
  const bundle = await rolldown({
    input: join(root, input),
    platform: "node",
    // A warning is a mistake somebody will meet at run time.
    onLog: (level, log) => {
      if (level === "warn") throw new Error(log.message);
    },
  });
  await bundle.write({ file: join(dist, output), format, codeSplitting: false, minify: { mangle: false, compress: true, codegen: { removeWhitespace: true } } });
  await bundle.close();
}
