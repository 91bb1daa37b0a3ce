/**
 * Named points at which a test may kill this process, to prove that a crash
 * there is survivable. Inert unless REEVE_FAILPOINT_FILE names a file that
 * holds one of the names; the file is removed before the kill, so that the
 * process started next passes the same point alive.
 */
import { readFileSync, unlinkSync } from "node:fs";

const file = process.env["REEVE_FAILPOINT_FILE"];

export function failpoint(name: string): void {
  if (file === undefined) return;
  let armed: string;
  try {
    armed = readFileSync(file, "utf8").trim();
  } catch {
    return;
  }
  if (armed !== name) return;
  unlinkSync(file);
  process.kill(process.pid, "SIGKILL");
}
