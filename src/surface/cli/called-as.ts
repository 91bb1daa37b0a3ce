/** How this program was called, as somebody would type it again. */
import { realpathSync } from "node:fs";
import { delimiter, join, relative } from "node:path";

export function calledAs(
  program: string,
  environment: Readonly<Record<string, string | undefined>>,
  cwd: string,
): string {
  if (environment["npm_command"] === "exec") return "npx reeve";
  const real = realPath(program);
  const directories = (environment["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const found = directories.map((directory) => realPath(join(directory, "reeve"))).find((path) => path !== null);
  if (real !== null && found === real) return "reeve";
  const near = relative(cwd, program);
  const typed = near.startsWith("..") ? program : near.includes("/") ? near : `./${near}`;
  return /^[A-Za-z0-9@_+=:,./-]+$/.test(typed) ? typed : `'${typed.replaceAll("'", "'\\''")}'`;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
