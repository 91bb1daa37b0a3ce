/** Reeve's MCP server in an agent's own configuration, put there and removed by the agent's own command. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { fieldsOf, fieldsOrNull, listOf } from "../../../platform/json-fields.ts";
import { isReeveServer, MCP_SERVER_NAME } from "../../../platform/mcp-registration.ts";
import { messageOf, ReeveError } from "../../../platform/reeve-error.ts";
import { shellQuote } from "../../../platform/shell-quote.ts";
import { stripTerminal } from "../../../platform/terminal-text.ts";
import type { Places, Registrar, Scope, ServerCommand } from "./registrar.ts";
import { removeEmptyDirectory } from "./empty-directory.ts";
import type { Step } from "./step.ts";

export interface ServerStepParts {
  readonly registrar: Registrar;
  /** The agent's program, as found. */
  readonly program: string;
  readonly scope: Scope;
  readonly places: Places;
  readonly server: ServerCommand;
}

export function serverStep({ registrar, program, scope, places, server }: ServerStepParts): Step {
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
    undoing: shown(removing),
    theirs: isExtended
      ? `It is in ${file} with options that you chose, so it stays as it is.`
      : `${registrar.title} has another MCP server called ${MCP_SERVER_NAME} (in ${file}). Rename or remove that one first; Reeve leaves it as it is.`,
    isNeeded: !isExtended,
    async make() {
      // Of an installation that was moved; Claude Code adds no second one of a name.
      if (isStale) await run(removing);
      await run(adding);
      const now = entryIn(file, registrar);
      if (now === null || !isSame(now, server))
        throw failed(registrar, adding, `it said that it was done, but ${file} does not have it`);
    },
    async takeBack() {
      await run(removing);
      if (entryIn(file, registrar) !== null) throw failed(registrar, removing, `it is still in ${file}`);
      removeEmptied(file, scope === "project" ? places.cwd : dirname(file));
    },
  };
}

function entryIn(file: string, registrar: Registrar): Readonly<Record<string, unknown>> | null {
  if (!existsSync(file)) return null;
  try {
    return fieldsOrNull(fieldsOf(registrar.readServers(readFileSync(file, "utf8")))[MCP_SERVER_NAME]);
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

/**
 * The agent's own command leaves an empty table behind; a file that holds nothing else is removed, and its directory if
 * that is empty then and is not `kept`.
 */
function removeEmptied(file: string, kept: string): void {
  if (!existsSync(file)) return;
  if (!/^\{\s*"mcpServers":\s*\{\s*\}\s*\}\s*$/.test(readFileSync(file, "utf8"))) return;
  rmSync(file);
  if (dirname(file) !== kept) removeEmptyDirectory(dirname(file));
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
