/**
 * What of an environment goes into a container. A container is there to keep
 * things apart, so of the caller's own environment only what describes a person
 * and their terminal goes in, what the agent finds its files by, and what it logs
 * in by. What was given by hand or by file does as a whole. PATH is the image's:
 * the programs are.
 */
import type { Launch } from "../../session/session.ts";
import { type Environment, readEnvFile } from "./environment.ts";

const PERSONAL = ["USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM", "NO_COLOR"];

export function containerEnvironment(
  environment: Environment,
  { paths, envNames, envFile, keyFiles }: Pick<Launch, "paths" | "envNames" | "envFile" | "keyFiles">,
  loginVariables: readonly string[],
): Environment {
  const given = [...envNames, ...Object.keys(keyFiles), ...namesIn(envFile)];
  const kept = new Set([...PERSONAL, ...Object.keys(paths), ...loginVariables, ...given]);
  const inside = Object.entries(environment).filter(([name]) => kept.has(name) || name.startsWith("LC_"));
  const { PATH: path } = paths;
  const isGiven = given.includes("PATH") || path === undefined;
  return { ...Object.fromEntries(inside), ...(isGiven ? {} : { PATH: path }) };
}

/** A file that is gone by now says nothing; the start that needs it says so. */
function namesIn(envFile: string | null): readonly string[] {
  try {
    return Object.keys(readEnvFile(envFile));
  } catch {
    return [];
  }
}
