/**
 * What is measured: a copy of dist/, so that a rebuild meanwhile changes
 * nothing, beside the bare programs it is held against. These are bundled too
 * (run from TypeScript they would carry a compiler in their memory), and as
 * CommonJS: in an ES module the mere import of node:http loads undici, 13 MB
 * and 40 ms more (Node 24), which nothing bare has to have.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { daemonCommand } from "../../../src/client/daemon-command.ts";
import type { Scope } from "./scope.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");
const BARE = ["list-server", "tail-server", "minimal-daemon", "wake-server", "tee-proxy"] as const;

export interface Build {
  /** What Node is given to run it, as the command line does. */
  readonly daemon: readonly string[];
  readonly cli: string;
  readonly bare: (name: (typeof BARE)[number]) => string;
  /** For whatever else a measurement needs; gone with the run. */
  readonly temporary: string;
}

export async function prepareBuild(scope: Scope): Promise<Build> {
  const directory = mkdtempSync(join(tmpdir(), "reeve-bench-"));
  scope.defer(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(join(ROOT, "package.json"), join(directory, "package.json"));
  cpSync(join(ROOT, "bin"), join(directory, "bin"), { recursive: true });
  const dist = join(directory, "dist");
  if (!existsSync(join(ROOT, "dist", ".built"))) throw new Error("there is no build to measure; run npm run build");
  cpSync(join(ROOT, "dist"), dist, { recursive: true });
  const bare = join(directory, "bare");
  await Promise.all(
    BARE.map((name) => bundle(join(import.meta.dirname, "..", "bare", `${name}.ts`), join(bare, `${name}.cjs`))),
  );
  return {
    daemon: daemonCommand(directory).slice(1),
    cli: join(directory, "bin", "reeve"),
    bare: (name) => join(bare, `${name}.cjs`),
    temporary: directory,
  };
}

async function bundle(input: string, output: string): Promise<void> {
  const bundled = await rolldown({ input, platform: "node" });
  try {
    await bundled.write({ file: output, format: "cjs", codeSplitting: false, minify: true });
  } catch (error) {
    throw new Error(`${basename(input)} could not be bundled`, { cause: error });
  } finally {
    await bundled.close();
  }
}
