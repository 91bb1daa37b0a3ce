/** The wrapper of driver/wrapper-script.ts as a file that tmux can run. */
import { join } from "node:path";
import { writeFileAtomicSync } from "../../platform/atomic-file.ts";
import { readOwnFile } from "../../platform/own-file.ts";
import { WRAPPER_SCRIPT } from "../driver/wrapper-script.ts";

const LARGEST_BYTES = 65_536;

export function wrapperPath(runDir: string): string {
  return join(runDir, "pane.sh");
}

/** Writes the script unless it is there already, and returns its path. */
export function ensureWrapper(runDir: string): string {
  const path = wrapperPath(runDir);
  if (readOwnFile(path, LARGEST_BYTES) !== WRAPPER_SCRIPT) writeFileAtomicSync(path, WRAPPER_SCRIPT, { mode: 0o500 });
  return path;
}
