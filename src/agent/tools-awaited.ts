/**
 * An agent that takes its first prompt while its MCP servers are still
 * connecting works without their tools in that turn. So its hook at the start,
 * which it waits for, waits in its turn until Reeve's server has told the agent
 * its tools: for a bounded time, and says so if it did not.
 *
 *   tools-ready   the pid of the `reeve mcp` that has told them; that of a dead process counts no more
 *
 * The agent gives the file's path to the server in READY_VARIABLE.
 */
import { join } from "node:path";
import { READY_VARIABLE } from "../platform/mcp-registration.ts";
import type { PlannedFile } from "./contract.ts";

/** Of 100 ms. Far more than a server needs on a busy machine (0.1 to 0.4 s), and less than anybody takes for hanging. */
const LONGEST_STEPS = 50;
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

/** `late`: what the hook prints where the time has passed, in the agent's own form. */
export function toolsAwaited(sessionDir: string, late: (sentence: string) => object): ToolsAwaited {
  const path = join(sessionDir, "tools-ready");
  const content = `#!/bin/sh
ready="\${0%/*}/tools-ready"
is_ready() { kill -0 "$(cat -- "$ready")"; } 2>/dev/null
is_ready && exit 0
steps=0
until is_ready; do
  if [ $steps -ge ${LONGEST_STEPS} ]; then
    printf '%s\\n' '${JSON.stringify(late(LATE))}'
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
