/**
 * Finds the program behind an agent and its version: from the package it was
 * installed in where there is one (no process), else by asking it, once per
 * file. Says how to install it when it is not there.
 */
import { execFile } from "node:child_process";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Agent, AgentProgram } from "../../agent/contract.ts";
import { compareVersions } from "../../agent/version.ts";
import { findExecutable } from "../../platform/executable.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { AgentOptions } from "./settings.ts";

export interface FoundProgram {
  readonly path: string;
  readonly version: string | null;
}

/** A program that starts slowly is still asked; one that hangs is not waited for. */
const VERSION_TIMEOUT_MS = 15_000;

export interface ProgramFinder {
  /** Null for agents that have none; throws where it is missing or too old. */
  find(agent: Agent, paths: Readonly<Record<string, string>>, cwd: string): Promise<FoundProgram | null>;
}

export function createProgramFinder(options: (agent: string) => AgentOptions): ProgramFinder {
  const versions = new Map<string, Promise<string | null>>();

  return {
    async find(agent, paths, cwd) {
      const { program } = agent;
      if (program === null) return null;
      const command = options(agent.name).command[0] ?? program.command;
      const path = findExecutable(command, { cwd, path: paths["PATH"] });
      if (path === null) throw missing(agent.name, command, program);
      const about = statSync(path);
      const key = `${path} ${about.mtimeMs} ${about.size}`;
      const version = await (versions.get(key) ?? remember(key, versionOf(path, program, paths)));
      if (version !== null && compareVersions(version, program.oldest) < 0) throw tooOld(agent.name, version, program);
      return { path, version };
    },
  };

  function remember(key: string, version: Promise<string | null>): Promise<string | null> {
    versions.set(key, version);
    return version;
  }
}

async function versionOf(
  path: string,
  program: AgentProgram,
  paths: Readonly<Record<string, string>>,
): Promise<string | null> {
  return packageVersion(path, program.command) ?? (await askVersion(path, program, paths));
}

/** The package a program came in stands a few directories above what its link points to. */
function packageVersion(path: string, command: string): string | null {
  let directory = dirname(realpathSync(path));
  for (let level = 0; level < 4; level++, directory = dirname(directory)) {
    try {
      const parsed: unknown = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
      if (typeof parsed !== "object" || parsed === null) return null;
      const { version, bin } = parsed as Readonly<Record<string, unknown>>;
      const isItsOwn = typeof bin === "object" && bin !== null && command in bin;
      return isItsOwn && typeof version === "string" && /^\d+\.\d+/.test(version) ? version : null;
    } catch {
      // one level up
    }
  }
  return null;
}

function askVersion(
  path: string,
  program: AgentProgram,
  paths: Readonly<Record<string, string>>,
): Promise<string | null> {
  return new Promise((resolve) => {
    const settings = { timeout: VERSION_TIMEOUT_MS, killSignal: "SIGKILL", env: paths, maxBuffer: 65_536 } as const;
    execFile(path, [...program.versionArgs], settings, (_error, stdout) => resolve(program.readVersion(stdout)));
  });
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
