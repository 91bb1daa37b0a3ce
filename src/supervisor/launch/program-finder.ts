/**
 * Finds the program behind an agent and its version: from the package it was
 * installed in where there is one (no process), else by asking it, once per
 * file. Says how to install it when it is not there.
 */
import { dirname, join } from "node:path";
import type { Agent, AgentProgram } from "../../agent/contract.ts";
import { compareVersions } from "../../agent/version.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { SessionPrograms } from "../../runtime/session-files.ts";
import type { AgentOptions } from "./settings.ts";

export interface FoundProgram {
  readonly path: string;
  readonly version: string | null;
}

/** A program that starts slowly is still asked; one that hangs is not waited for. */
const VERSION_TIMEOUT_MS = 15_000;
const LARGEST_PACKAGE_BYTES = 1_048_576;

export interface ProgramFinder {
  /** Null for agents that have none; throws where it is missing or too old. `files`: where it is to run. */
  find(agent: Agent, files: SessionPrograms, where: ProgramPlace): Promise<FoundProgram | null>;
}

export interface ProgramPlace {
  readonly paths: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export function createProgramFinder(options: (agent: string) => AgentOptions): ProgramFinder {
  /** By runtime: the same path may be another program elsewhere. */
  const versions = new WeakMap<SessionPrograms, Map<string, Promise<string | null>>>();

  return {
    async find(agent, files, { paths, cwd }) {
      const { program } = agent;
      if (program === null) return null;
      const command = options(agent.name).command[0] ?? program.command;
      const found = await files.findProgram(command, { cwd, path: paths["PATH"] });
      if (found === null) throw missing(agent.name, command, program);
      const { path, stamp } = found;
      const known = versionsAt(files);
      const asking = known.get(stamp) ?? versionOf(files, path, program, paths);
      known.set(stamp, asking);
      const version = await asking;
      if (version !== null && compareVersions(version, program.oldest) < 0) throw tooOld(agent.name, version, program);
      return { path, version };
    },
  };

  function versionsAt(files: SessionPrograms): Map<string, Promise<string | null>> {
    const known = versions.get(files) ?? new Map<string, Promise<string | null>>();
    versions.set(files, known);
    return known;
  }
}

async function versionOf(
  files: SessionPrograms,
  path: string,
  program: AgentProgram,
  paths: Readonly<Record<string, string>>,
): Promise<string | null> {
  const packaged = await packageVersion(files, path, program.command);
  if (packaged !== null) return packaged;
  const options = { environment: paths, timeoutMs: VERSION_TIMEOUT_MS };
  return program.readVersion(await files.ask(path, program.versionArgs, options));
}

/** The package a program came in stands a few directories above what its link points to. */
async function packageVersion(files: SessionPrograms, path: string, command: string): Promise<string | null> {
  let directory = dirname((await files.realPath(path)) ?? path);
  for (let level = 0; level < 4; level++, directory = dirname(directory)) {
    const text = await files.read(join(directory, "package.json"), { mostBytes: LARGEST_PACKAGE_BYTES });
    const parsed = text === null ? undefined : parse(text);
    if (parsed === undefined) continue; // one level up
    if (typeof parsed !== "object" || parsed === null) return null;
    const { version, bin } = parsed as Readonly<Record<string, unknown>>;
    const isItsOwn = typeof bin === "object" && bin !== null && command in bin;
    return isItsOwn && typeof version === "string" && /^\d+\.\d+/.test(version) ? version : null;
  }
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function missing(agent: string, command: string, program: AgentProgram): ReeveError {
  return new ReeveError({
    code: "agent-not-installed",
    kind: "usage",
    message: `There is no program "${command}" on the PATH, so ${agent} cannot be started; install it with: ${program.install}`,
  });
}

function tooOld(agent: string, version: string, program: AgentProgram): ReeveError {
  return new ReeveError({
    code: "agent-too-old",
    kind: "usage",
    message: `The installed ${agent} is ${version}; Reeve needs ${program.oldest} or later: ${program.install}`,
  });
}
