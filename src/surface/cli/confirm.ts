/** Asks before something is changed. Only a person at a terminal can be asked. */
import { createInterface } from "node:readline/promises";
import { isatty } from "node:tty";
import type { CliContext } from "./command.ts";

export async function isConfirmed(context: Pick<CliContext, "isJson">): Promise<boolean> {
  if (context.isJson || !isatty(0)) return false;
  // Not as a terminal: Ctrl-C stays the signal that ends the command.
  const question = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  try {
    return /^y(?:es)?$/i.test((await question.question("Go on? [y/N] ")).trim());
  } finally {
    question.close();
  }
}
