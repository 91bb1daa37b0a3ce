/** Kills a process that may have ended already: the last of a session goes with the first. */
import { errnoOf } from "../../src/platform/reeve-error.ts";

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (errnoOf(error) !== "ESRCH") throw error;
  }
}
