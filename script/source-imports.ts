/** The files of src/, what each imports, and the room it is in. */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface SourceImport {
  /** Below src/. */
  readonly target: string;
  readonly isType: boolean;
}

/** Without tests and what only tests use. */
export function sourceFiles(root: string): readonly string[] {
  return globSync("**/*.ts", { cwd: root })
    .filter((file) => !/\.test\.ts$|-fixture\.ts$|-under-test\.ts$/.test(file))
    .toSorted();
}

export function importsOf(root: string, file: string): readonly SourceImport[] {
  const found = readFileSync(join(root, file), "utf8").matchAll(
    /^\s*(?:import|export)\s+(type\s+)?[^;'"]*?from\s+["'](\.[^"']+)["']|import\(\s*["'](\.[^"']+)["']\s*\)/gm,
  );
  return [...found].flatMap((match) => {
    const target = targetOf(file, match[2] ?? match[3] ?? "");
    return target === null ? [] : [{ target, isType: match[1] !== undefined }];
  });
}

/** Null for what is not in src/. */
export function targetOf(file: string, specifier: string): string | null {
  if (!specifier.startsWith(".")) return null;
  const target = join(dirname(file), specifier);
  return target.startsWith("..") ? null : target;
}

/** `supervisor/ledger`, `surface/cli`, `store`; a file beside the rooms is its own. */
export function roomOf(path: string): string {
  const parts = path.split("/");
  if (parts.length === 1) return path;
  const hasRooms = parts[0] === "surface" || parts[0] === "supervisor";
  return hasRooms && parts.length > 2 ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}
