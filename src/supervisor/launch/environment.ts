/**
 * Makes the environment of a session's process: the caller's environment
 * without what belongs to Reeve or to another agent's session, plus
 * `--env-file` and `--env`. Values are given to the runtime and kept nowhere
 * else.
 */
import { parseEnv } from "node:util";
import { scrubEnvironment } from "../../agent/session-variables.ts";
import { readPlainFile } from "../../platform/plain-file.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Launch } from "../../session/session.ts";
import { type Secret, secretsIn } from "./secret-values.ts";

export type Environment = Readonly<Record<string, string>>;

const LARGEST_FILE_BYTES = 1_048_576;

export function sessionEnvironment(parts: {
  readonly caller: Readonly<Record<string, string | undefined>>;
  /** Exact names, or prefixes ending in `*`. */
  readonly scrub: readonly string[];
  readonly file: Environment;
  readonly given: Environment;
}): Environment {
  return { ...scrubEnvironment(parts.caller, parts.scrub), ...parts.file, ...parts.given };
}

/** All that files say, as they are now: read for a start whose environment the runtime does not have. */
export function readFiles({ envFile, keyFiles = {} }: EnvironmentFiles): Environment {
  const keys = Object.entries(keyFiles).map(([name, path]) => [name, readKeyFile(name, path)] as const);
  return { ...readEnvFile(envFile), ...Object.fromEntries(keys) };
}

export interface EnvironmentFiles {
  readonly envFile: string | null;
  /** A variable, and the file that holds its value. */
  readonly keyFiles?: Readonly<Record<string, string>>;
}

const LARGEST_KEY_BYTES = 65_536;

/** The value is the whole file, without the line end that editors add. */
function readKeyFile(name: string, path: string): string {
  try {
    const key = readPlainFile(path, LARGEST_KEY_BYTES)?.replace(/\r?\n$/, "");
    if (key === undefined) throw new Error("it does not exist");
    if (key === "") throw new Error("it is empty");
    if (key.includes("\0")) throw new Error("it holds a NUL character");
    return key;
  } catch (error) {
    throw new ReeveError({
      code: "key-file-unreadable",
      kind: "usage",
      message: `The file ${path} with the value of ${name} cannot be read (${messageOf(error)}); check the path given with --key-file.`,
    });
  }
}

export function readEnvFile(path: string | null): Environment {
  if (path === null) return {};
  try {
    const text = readPlainFile(path, LARGEST_FILE_BYTES);
    if (text === null) throw new Error("it does not exist");
    const entries = Object.entries(parseEnv(text));
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
  } catch (error) {
    throw new ReeveError({
      code: "env-file-unreadable",
      kind: "usage",
      message: `The environment file ${path} cannot be read (${messageOf(error)}); check the path given with --env-file.`,
    });
  }
}

/** Of an environment that a session of this launch has, or will have. */
export function secretsOfLaunch(
  { envNames, ...files }: Pick<Launch, "envFile" | "envNames" | "keyFiles">,
  environment: Environment,
): readonly Secret[] {
  let file: Environment = {};
  try {
    file = readFiles(files);
  } catch {
    // Its values, as far as the process has them, are in its environment.
  }
  return secretsIn({ ...file, ...environment }, [...Object.keys(file), ...envNames]);
}
