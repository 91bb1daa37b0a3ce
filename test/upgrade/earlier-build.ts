/**
 * The build that landed before this one, made from the repository's own
 * history. It is bundled here and not by its own script, which needs a package
 * that this version no longer has (for shell completion only).
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";

const ROOT = join(import.meta.dirname, "..", "..");
/** The last commit that users could have: schema 2, flat session records, one agent process per pane. */
const EARLIER = "5e78afae260a68420580473b885db3651c4b6f7b";

/** A clone without history does not have it. */
export function hasEarlierBuild(): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${EARLIER}^{commit}`], { cwd: ROOT, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export interface EarlierBuild {
  /** `bin/reeve` lies below it. */
  readonly root: string;
  remove(): void;
}

export async function makeEarlierBuild(): Promise<EarlierBuild> {
  const root = mkdtempSync(join(tmpdir(), "reeve-earlier-"));
  const archive = execFileSync("git", ["archive", EARLIER, "bin", "rules", "src", "package.json"], {
    cwd: ROOT,
    maxBuffer: 64 * 1024 * 1024,
  });
  execFileSync("tar", ["-x", "-C", root], { input: archive });
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  mkdirSync(join(root, "dist"));
  await bundle(root, "cli", "src/surface/cli/main.ts", "cjs");
  await bundle(root, "daemon", "src/daemon-main.ts", "esm");
  await bundle(root, "practice-program", "src/agent/practice/program.ts", "esm");
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
}

async function bundle(root: string, name: string, input: string, format: "cjs" | "esm"): Promise<void> {
  const extension = format === "cjs" ? "cjs" : "js";
  const made = await rolldown({
    input: { [name]: join(root, input) },
    platform: "node",
    external: ["@bomb.sh/tab"],
    preserveEntrySignatures: "allow-extension",
  });
  await made.write({
    dir: join(root, "dist"),
    format,
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `${name}-[name].${extension}`,
  });
  await made.close();
}
