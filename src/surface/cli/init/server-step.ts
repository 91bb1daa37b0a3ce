/**
 * Reeve's MCP server in an agent's own configuration. The agent's own command puts
 * it there, because only the agent knows where and how. Taking it back gives the
 * bytes that the file had before, if nobody changed it since; else only Reeve's
 * entry is taken out, and where its form is not known, by the agent's own command.
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fieldsOf, fieldsOrNull, listOf } from "../../../platform/json-fields.ts";
import { isReeveServer, MCP_SERVER_NAME } from "../../../platform/mcp-registration.ts";
import { ensurePrivateDir } from "../../../platform/private-dir.ts";
import { messageOf, ReeveError } from "../../../platform/reeve-error.ts";
import { shellQuote } from "../../../platform/shell-quote.ts";
import { stripTerminal } from "../../../platform/terminal-text.ts";
import type { Places, Registrar, Scope, ServerCommand } from "./registrar.ts";
import { removeEmptyDirectory } from "./empty-directory.ts";
import { noteOf, originalBy, readNote, writeNote } from "./init-notes.ts";
import type { InitNote } from "./init-notes.ts";
import { replaceFile } from "./replace-file.ts";
import type { Step } from "./step.ts";
import { takenOut } from "./taken-out.ts";

export interface ServerStepParts {
  readonly registrar: Registrar;
  /** The agent's program, as found. */
  readonly program: string;
  readonly scope: Scope;
  readonly places: Places;
  readonly server: ServerCommand;
  /** Where it is remembered how the file was: see init-notes.ts. */
  readonly notesPath: string;
}

export function serverStep({ registrar, program, scope, places, server, notesPath }: ServerStepParts): Step {
  const file = registrar.file(scope, places);
  if (file === null) throw noSuchScope(registrar);
  const adding = registrar.add(scope, MCP_SERVER_NAME, server);
  const removing = registrar.remove(scope, MCP_SERVER_NAME);
  const before = entryIn(file, registrar);
  const isReeve = before !== null && isReeveServer(before);
  const isExtended = before !== null && !isSame(before, server) && begins(before, server);
  const isStale = isReeve && !isExtended && !isSame(before, server);
  const run = (words: readonly string[]): Promise<void> => runAgent(registrar, program, words, places);
  const shown = (words: readonly string[]): string => `run: ${lineOf(registrar, words)} (changes ${file})`;
  return {
    state: before === null || isStale ? "absent" : isReeve && !isExtended ? "ours" : "theirs",
    doing: shown(adding),
    undoing: `take Reeve's MCP server out of ${file}`,
    theirs: isExtended
      ? `It is in ${file} with options that you chose, so it stays as it is.`
      : `${registrar.title} has another MCP server called ${MCP_SERVER_NAME} (in ${file}). Rename or remove that one first; Reeve leaves it as it is.`,
    isNeeded: !isExtended,
    async make() {
      ensurePrivateDir(dirname(notesPath));
      const hadDirectory = existsSync(dirname(file));
      const found = bytesOf(file);
      const known = originalBy(readNote(notesPath, file), found);
      // Of an installation that was moved; Claude Code adds no second one of a name.
      if (isStale) await run(removing);
      const original = known === null ? bytesOf(file) : known.bytes;
      await run(adding);
      const now = entryIn(file, registrar);
      const after = bytesOf(file);
      if (after === null || now === null || !isSame(now, server))
        throw failed(registrar, adding, `it said that it was done, but ${file} does not have it`);
      const hadTable = original !== null && registrar.table in registrar.parse(original.toString("utf8"));
      const made = [...(hadTable ? [] : ["table" as const]), ...(hadDirectory ? [] : ["directory" as const])];
      writeNote(notesPath, file, noteOf(original, after, made));
    },
    async takeBack() {
      const note = readNote(notesPath, file);
      const found = bytesOf(file);
      const left = found === null ? null : leftOf(registrar, found, note);
      if (left === null) await run(removing);
      else if (left.bytes !== null) put(file, left.bytes);
      else rmSync(realpathSync(file));
      if (entryIn(file, registrar) !== null) throw failed(registrar, removing, `it is still in ${file}`);
      if (note?.made.includes("directory") === true) removeEmptyDirectory(dirname(file));
      writeNote(notesPath, file, null);
    },
  };
}

/** What is to be there afterwards: `{ bytes: null }` is no file, and null what only the agent's own command can make. */
function leftOf(registrar: Registrar, found: Buffer, note: InitNote | null): { readonly bytes: Buffer | null } | null {
  const original = originalBy(note, found);
  if (original !== null) return original;
  const bytes = takenOut(registrar, found, note?.made.includes("table") === true);
  if (bytes === null) return null;
  // A file that was made for it alone, and in which nothing else was written since.
  return { bytes: note?.before === null && /^\s*(?:\{\s*\}\s*)?$/.test(bytes.toString("latin1")) ? null : bytes };
}

function bytesOf(file: string): Buffer | null {
  return existsSync(file) ? readFileSync(file) : null;
}

/** Behind a link, as people who keep their settings elsewhere have one. */
function put(file: string, content: Buffer): void {
  const real = realpathSync(file);
  replaceFile(real, content, statSync(real).mode);
}

function entryIn(file: string, registrar: Registrar): Readonly<Record<string, unknown>> | null {
  if (!existsSync(file)) return null;
  try {
    return fieldsOrNull(fieldsOf(registrar.parse(readFileSync(file, "utf8"))[registrar.table])[MCP_SERVER_NAME]);
  } catch (error) {
    throw new ReeveError({
      code: "agent-config-unreadable",
      kind: "config",
      message: `${registrar.title}'s ${file} cannot be read (${messageOf(error).split("\n", 1)[0]}); fix it, then run this again.`,
    });
  }
}

function isSame(entry: Readonly<Record<string, unknown>>, server: ServerCommand): boolean {
  return begins(entry, server) && listOf(entry["args"]).length === server.words.length - 1;
}

/** With more words behind, it has options, such as --channel. */
function begins(entry: Readonly<Record<string, unknown>>, { words }: ServerCommand): boolean {
  const found = [entry["command"], ...listOf(entry["args"])];
  return words.every((word, at) => found[at] === word);
}

/** As a person would type it. */
function lineOf({ name }: Registrar, words: readonly string[]): string {
  return [name, ...words].map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word))).join(" ");
}

/** It writes one file; one that hangs is not waited for. */
const COMMAND_TIMEOUT_MS = 60_000;

async function runAgent(
  registrar: Registrar,
  program: string,
  words: readonly string[],
  { cwd, environment }: Places,
): Promise<void> {
  const child = spawn(program, words, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const said: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => said.push(piece));
  child.stderr.on("data", (piece: Buffer) => said.push(piece));
  const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_TIMEOUT_MS);
  const { promise, resolve } = Promise.withResolvers<string | null>();
  child.once("error", (error) => resolve(messageOf(error)));
  child.once("close", (code, signal) => resolve(code === 0 ? null : `it ended with ${code ?? signal}`));
  const problem = await promise;
  clearTimeout(timer);
  if (problem === null) return;
  const lines = stripTerminal(Buffer.concat(said).toString("utf8")).split("\n");
  const spoken = lines.filter((line) => /\w{3}/.test(line) && !/^WARNING|<unknown>|backtrace/.test(line));
  throw failed(registrar, words, [problem, ...spoken.slice(-2)].join("; "));
}

function failed(registrar: Registrar, words: readonly string[], why: string): ReeveError {
  return new ReeveError({
    code: "registration-failed",
    kind: "conflict",
    message: `${lineOf(registrar, words)} did not work: ${why}. If this ${registrar.title} is old, update it with: ${registrar.install}`,
  });
}

function noSuchScope({ title, name }: Registrar): ReeveError {
  return new ReeveError({
    code: "no-project-scope",
    kind: "usage",
    message: `${title} registers MCP servers for its user only, and this directory is in no git repository that could get the restart card; leave --project out, or go to a repository: reeve init ${name}`,
  });
}
