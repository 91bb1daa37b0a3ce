/** The package as npm would publish it, installed as `npm install -g reeve` does, without asking a registry. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");

export interface InstalledPackage {
  /** Where its files are. */
  readonly root: string;
  /** Belongs on the path. */
  readonly bin: string;
  readonly programs: readonly string[];
}

export function installGlobally(prefix: string): InstalledPackage {
  mkdirSync(prefix, { recursive: true });
  const pack = ["pack", "--ignore-scripts", "--silent", "--pack-destination", prefix];
  const archive = execFileSync("npm", pack, { cwd: ROOT, encoding: "utf8" }).trim();
  // Its one dependency, as npm's cache would have it.
  const zod = execFileSync("npm", pack, { cwd: join(ROOT, "node_modules", "zod"), encoding: "utf8" }).trim();
  const options = ["--offline", "--no-audit", "--no-fund", "--loglevel=error", "--cache", join(prefix, "cache")];
  const archives = [archive, zod].map((name) => join(prefix, name));
  execFileSync("npm", ["install", "--global", "--prefix", prefix, ...options, ...archives], { cwd: prefix });
  const root = join(prefix, "lib", "node_modules", "reeve");
  const { bin: programs } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    bin: Record<string, string>;
  };
  return { root, bin: join(prefix, "bin"), programs: Object.keys(programs) };
}
