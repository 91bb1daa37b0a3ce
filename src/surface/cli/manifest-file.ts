/**
 * Finds and reads the manifest that a command is about: the one that -f names,
 * or the nearest reeve.toml in this directory and those above it. It is known
 * by its path without links.
 */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Client } from "../../client/create-client.ts";
import type { OutputOf } from "../../client/operation-types.ts";
import { readPlainFile } from "../../platform/plain-file.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { callerEnvironment } from "./caller-environment.ts";
import type { CliContext, CommandInput, OptionSpec } from "./command.ts";
import { absolutePath } from "./working-directory.ts";

const NAME = "reeve.toml";
const LARGEST_BYTES = 1_048_576;
/** As EX_CONFIG: 2, which a bad command line ends with, tells plan's caller that there is a difference. */
export const BAD_MANIFEST = 78;

export const FILE_OPTION: OptionSpec = {
  name: "file",
  short: "f",
  value: "FILE",
  summary: `the manifest (default: ${NAME} here, or in the nearest directory above)`,
  completion: "file",
};

export type ManifestPlan = OutputOf<"planManifest">;

/** The path by which its sessions are known; the file itself need not be there any more. */
export function manifestPath(input: CommandInput, context: CliContext): string {
  const given = input.text("file");
  if (given === undefined) return realPath(nearest(context.cwd()));
  return realPath(absolutePath(context, given));
}

function nearest(directory: string): string {
  const file = found(directory);
  if (file !== null) return file;
  throw new ReeveError({
    code: "no-manifest",
    kind: "config",
    message: `There is no ${NAME} in ${directory} or above it; create one, or name another file with -f.`,
  });
}

function found(directory: string): string | null {
  const file = join(directory, NAME);
  if (existsSync(file)) return file;
  return directory === dirname(directory) ? null : found(dirname(directory));
}

/** The command that the manifest of this project verifies work with; undefined where it names none, or there is none. */
export async function verifyOfProject(context: CliContext): Promise<readonly string[] | undefined> {
  const file = found(context.cwd());
  if (file === null) return undefined;
  return (await planOf(context.client(), realPath(file), context)).verify ?? undefined;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return existsSync(dirname(path)) ? join(realpathSync(dirname(path)), basename(path)) : path;
  }
}

export async function planOf(
  client: Client,
  file: string,
  context: CliContext,
  { prune = false }: { readonly prune?: boolean } = {},
): Promise<ManifestPlan> {
  const environment = callerEnvironment(context);
  return await client.planManifest({ file, text: textOf(file), environment, prune });
}

function textOf(file: string): string {
  try {
    const text = readPlainFile(file, LARGEST_BYTES);
    if (text !== null) return text;
  } catch (error) {
    throw unreadable(file, messageOf(error));
  }
  throw unreadable(file, "it does not exist");
}

function unreadable(file: string, why: string): ReeveError {
  return new ReeveError({
    code: "manifest-unreadable",
    kind: "config",
    message: `The manifest ${file} cannot be read (${why}); check the path given with -f.`,
  });
}

interface ShownMistake {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** Each mistake on a line of its own, as editors and compilers write it; null: it is another error. */
export function mistakeLines(error: unknown, context: CliContext): readonly string[] | null {
  if (!(error instanceof ReeveError) || error.code !== "manifest-invalid") return null;
  const { file, mistakes } = error.details as { readonly file: string; readonly mistakes: readonly ShownMistake[] };
  const shown = shownPath(file, context);
  const many = mistakes.length === 1 ? "1 mistake" : `${mistakes.length} mistakes`;
  return [
    ...mistakes.map(({ line, column, message }) => `${shown}:${line}:${column}: ${message}`),
    `${many} in ${shown}; nothing was changed.`,
  ];
}

export function shownPath(file: string, context: CliContext): string {
  const near = relative(context.cwd(), file);
  return near.startsWith("..") ? file : near;
}
