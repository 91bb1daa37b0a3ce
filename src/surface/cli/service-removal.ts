/** The service that `reeve daemon install` wrote for this home: found, and taken out of the service manager. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { promisify } from "node:util";
import { errnoOf } from "../../platform/reeve-error.ts";
import type { CliContext } from "./command.ts";
import { serviceOf } from "./command/daemon-install.ts";

const run = promisify(execFile);
const UNIT = "reeve.service";

/** Null where there is none, or where the file is another home's or somebody else's. */
export function installedService(context: CliContext): string | null {
  const { path, text } = serviceOf(context, process.platform);
  const found = readIfThere(path);
  return found !== null && isSameService(found, text) ? path : null;
}

/** Written by us, and for the same home; its PATH and Node may have changed since. */
export function isSameService(found: string, expected: string): boolean {
  const isOurs = /^Description=Reeve,|<string>dev\.reeve\.daemon<\/string>/m.test(found);
  return isOurs && homeIn(found) === homeIn(expected);
}

function homeIn(text: string): string | null {
  return /REEVE_HOME(?:=|<\/key>\s*<string>)([^\n<]*)/.exec(text)?.[1] ?? null;
}

/** A service manager that does not run, or knows another file by that name, is left alone. */
export async function removeService(path: string): Promise<void> {
  const known = await systemctl("show", "--property=FragmentPath", "--value", UNIT);
  const isLoaded = known?.trim() === path;
  if (isLoaded) await systemctl("disable", UNIT);
  rmSync(path, { force: true });
  if (isLoaded) await systemctl("daemon-reload");
}

async function systemctl(...args: readonly string[]): Promise<string | null> {
  try {
    return (await run("systemctl", ["--user", ...args], { timeout: 10_000 })).stdout;
  } catch {
    return null;
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return null;
    throw error;
  }
}
