/** The names of the files in a session's own directory, except `state.json` (`store/state-file.ts`). */
import { join } from "node:path";
import type { Session } from "./session.ts";

/** Where an agent's hooks leave their records. */
export function spoolDirOf(outputsDir: string): string {
  return join(outputsDir, "spool");
}

/** The last screen before its place was removed. */
export function finalScreenPath(session: Session): string {
  return join(session.identity.outputsDir, "screen.txt");
}
