/**
 * An agent that takes its first prompt while its MCP servers are still
 * connecting works without their tools in that turn. So whatever comes before that prompt
 * (its hook at the start, or the program that opens its conversation) waits
 * until Reeve's server has told the agent its tools: for a bounded time. If it
 * did not, the daemon is told by a record in the spool.
 *
 *   tools-ready   the pid of the `reeve mcp` that has told them; that of a dead process counts no more
 *
 * The agent gives the file's path to the server in READY_VARIABLE.
 */
import { join } from "node:path";
import type { Fields } from "../platform/json-fields.ts";
import { READY_VARIABLE } from "../platform/mcp-registration.ts";
import type { Reading } from "../session/reading.ts";
import type { PlannedFile } from "./contract.ts";

/** Of 100 ms. Far more than a server needs on a busy machine (0.1 to 0.4 s), and less than anybody takes for hanging. */
const LONGEST_STEPS = 50;
export const TOOLS_WITHIN_MS = LONGEST_STEPS * 100;
/**
 * The agent has been told them, and needs a moment to take them in (claude 2.1.325: 0.2 to 0.5 s on a busy machine). Where
 * it took longer to ask for them, it gets as long again.
 */
const TAKEN_IN_STEPS = 5;

const LATE =
  "The MCP server reeve has not come up yet. Its tools may appear later; until then the same commands are in the shell: reeve start, wait, data, send, end.";

export interface ToolsAwaited {
  readonly script: PlannedFile;
  /** For the server. */
  readonly environment: Readonly<Record<string, string>>;
}

/** In the spool: the time has passed. */
export const TOOLS_LATE = { reeve: "tools-late" } as const;

export function readToolsLate(record: Fields): Reading | null {
  if (record["reeve"] !== TOOLS_LATE.reeve) return null;
  return {
    source: "hook",
    detail: `Reeve's MCP server had not told its tools after ${TOOLS_WITHIN_MS / 1_000} s`,
    toolsLate: true,
  };
}

export function toolsReadyPath(sessionDir: string): string {
  return join(sessionDir, "tools-ready");
}

/** `late`: what the hook prints where the time has passed, in the agent's own form. */
export function toolsAwaited(sessionDir: string, late: (sentence: string) => object): ToolsAwaited {
  const path = toolsReadyPath(sessionDir);
  const content = `#!/bin/sh
ready="\${0%/*}/tools-ready"
is_ready() { kill -0 "$(cat -- "$ready")"; } 2>/dev/null
is_ready && exit 0
steps=0
until is_ready; do
  if [ $steps -ge ${LONGEST_STEPS} ]; then
    printf '%s\\n' '${JSON.stringify(late(LATE))}'
    printf '%s' '${JSON.stringify(TOOLS_LATE)}' | "\${0%/*}/hook.sh"
    exit 0
  fi
  steps=$((steps + 1))
  sleep 0.1
done
[ $steps -ge ${TAKEN_IN_STEPS} ] || steps=${TAKEN_IN_STEPS}
while [ $steps -gt 0 ]; do
  steps=$((steps - 1))
  sleep 0.1
done
exit 0
`;
  return {
    script: { path: join(sessionDir, "await-tools.sh"), content, isExecutable: true },
    environment: { [READY_VARIABLE]: path },
  };
}
