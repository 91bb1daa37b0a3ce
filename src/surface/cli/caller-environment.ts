/** The caller's environment as the operations take it: an agent is looked for, and run, as the caller would. */
import type { CliContext } from "./command.ts";

export function callerEnvironment({ environment }: Pick<CliContext, "environment">): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
