/** The bell of a terminal on this machine. */
import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";

/** tmux has no command for it. One byte, which a terminal takes anywhere; it is not waited for. */
export function ring(terminal: string): void {
  try {
    const file = openSync(terminal, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    try {
      if (fstatSync(file).isCharacterDevice()) writeSync(file, "\u0007");
    } finally {
      closeSync(file);
    }
  } catch {
    // Its terminal was closed, or takes nothing now: nobody is there to hear it.
  }
}
