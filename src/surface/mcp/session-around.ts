/**
 * Finds the session that this process runs in where its own environment does
 * not tell: some agents (Codex) start MCP servers with a few variables only.
 * The process that started it, or one above, still has them. Otherwise the
 * agent would act as the operator.
 */
import { PASS_VARIABLE, SOCKET_VARIABLE } from "../../platform/pass.ts";
import { readEnvironment, readProcess } from "../../platform/process-table.ts";

const VARIABLES = [PASS_VARIABLE, SOCKET_VARIABLE, "REEVE_SESSION_ID", "REEVE_HOME"];
/** Agents start them directly or through a shell or two. */
const MOST_ABOVE = 32;

export function sessionAround(
  environment: Readonly<Record<string, string | undefined>>,
  parent: number,
): Readonly<Record<string, string>> {
  if ((environment[PASS_VARIABLE] ?? "") !== "") return {};
  for (let pid = parent, above = 0; pid > 1 && above < MOST_ABOVE; above += 1) {
    const known = readEnvironment(pid);
    if ((known?.[PASS_VARIABLE] ?? "") !== "")
      return Object.fromEntries(
        Object.entries(known ?? {}).filter(([name]) => VARIABLES.includes(name) && environment[name] === undefined),
      );
    pid = readProcess(pid)?.ppid ?? 0;
  }
  return {};
}
