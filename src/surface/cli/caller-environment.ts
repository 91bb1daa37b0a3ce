/**
 * The caller's environment in the form that the operations take. An agent is
 * looked for, and run, with this environment.
 */
import type { CliContext } from "./command.ts";

export function callerEnvironment({ environment }: Pick<CliContext, "environment">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
