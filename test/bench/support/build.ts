/**
 * What is measured: a copy of the build, so that a rebuild meanwhile changes
 * nothing, beside the bare programs it is held against, bundled in the same
 * way (a program run from TypeScript carries the compiler in its memory).
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import type { Scope } from "./scope.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const BARE = ["list-server", "tail-server", "minimal-daemon"] as const;

export interface Build {
  readonly daemon: string;
  readonly cli: string;
  readonly bare: (name: (typeof BARE)[number]) => string;
  /** For whatever else a measurement needs; gone with the run. */
  readonly temporary: string;
}

export async function prepareBuild(scope: Scope): Promise<Build> {
  const directory = mkdtempSync("/tmp/reeve-bench-");
  scope.defer(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(join(ROOT, "package.json"), join(directory, "package.json"));
  cpSync(join(ROOT, "bin"), join(directory, "bin"), { recursive: true });
  const dist = join(directory, "dist");
  if (existsSync(join(ROOT, "dist", ".built"))) cpSync(join(ROOT, "dist"), dist, { recursive: true });
  else await bundle(join(ROOT, "src", "daemon.ts"), join(dist, "daemon.js"));
  const bare = join(directory, "bare");
  await Promise.all(
    BARE.map((name) => bundle(join(import.meta.dirname, "..", "bare", `${name}.ts`), join(bare, `${name}.js`))),
  );
  return {
    daemon: join(dist, "daemon.js"),
    cli: join(directory, "bin", "reeve"),
    bare: (name) => join(bare, `${name}.js`),
    temporary: directory,
  };
}

async function bundle(input: string, output: string): Promise<void> {
  const bundled = await rolldown({ input, platform: "node" });
  try {
    await bundled.write({ file: output, format: "esm", codeSplitting: false, minify: true });
  } catch (error) {
    throw new Error(`${basename(input)} could not be bundled`, { cause: error });
  } finally {
    await bundled.close();
  }
}
