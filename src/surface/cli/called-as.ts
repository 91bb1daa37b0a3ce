/** How this program was called, as somebody would type it again. */
import { realpathSync } from "node:fs";
import { delimiter, join, relative, resolve } from "node:path";
import { shellQuote } from "../../platform/shell-quote.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export function calledAs(program: string, environment: Environment, cwd: string): string {
  if (environment["npm_command"] === "exec") return "npx reeve";
  if (isOnPath(program, environment)) return "reeve";
  const near = relative(cwd, program);
  const typed = near.startsWith("..") ? program : near.includes("/") ? near : `./${near}`;
  return /^[A-Za-z0-9@_+=:,./-]+$/.test(typed) ? typed : shellQuote(typed);
}

/** For a script that runs it later, from anywhere. */
export function installedProgram(program: string, environment: Environment): string {
  return isOnPath(program, environment) ? "reeve" : resolve(program);
}

function isOnPath(program: string, environment: Environment): boolean {
  const real = realPath(program);
  const directories = (environment["PATH"] ?? "").split(delimiter).filter((directory) => directory !== "");
  const found = directories.map((directory) => realPath(join(directory, "reeve"))).find((path) => path !== null);
  return real !== null && found === real;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
