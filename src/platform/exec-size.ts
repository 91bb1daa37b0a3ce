/**
 * What Linux can start a program with (execve(2)): strings of less than 128 KiB,
 * about 2 MiB of them together, each with a pointer. What is larger is refused
 * before anything is recorded or made for it, in one sentence that says what is
 * too large; the kernel would say only "Argument list too long", in a pane.
 */
import { ReeveError } from "./reeve-error.ts";

type Variables = Readonly<Record<string, string>>;

/** With the NUL at its end (MAX_ARG_STRLEN). */
const LONGEST_STRING_BYTES = 131_071;
/** A quarter of the usual stack of 8 MiB, with room for what Reeve and tmux add: the mark, the pass, paths. */
const MOST_BYTES = 2_000_000;
const POINTER_BYTES = 8;

/**
 * tmux prints a command line together word by word, and looks at all that it has so far for each: 1,000 variables with
 * 1.8 MB keep it busy for 2 s and more, with all sessions in it. This much takes 0.3 s. (Arguments are packed, create-pane.ts.)
 */
const MOST_VARIABLE_WORK = 300_000_000;

/** As far as it is known: what a session was started with before is in its runtime. */
export interface Executed {
  readonly argv: readonly string[];
  readonly environment: Variables;
}

export function requireExecutableSize({ argv, environment }: Executed): void {
  let argumentBytes = 0;
  for (const [index, argument] of argv.entries()) {
    const bytes = Buffer.byteLength(argument);
    if (bytes > LONGEST_STRING_BYTES)
      throw tooLarge(`Argument ${index} of its command is ${shown(bytes)} long`, shortest(LONGEST_STRING_BYTES));
    argumentBytes += bytes + 1 + POINTER_BYTES;
  }
  let variableBytes = 0;
  let variables = 0;
  for (const [name, value] of Object.entries(environment)) {
    const bytes = Buffer.byteLength(name) + 1 + Buffer.byteLength(value);
    if (bytes > LONGEST_STRING_BYTES)
      throw tooLarge(`The variable ${name.slice(0, 100)} is ${shown(bytes)} long`, shortest(LONGEST_STRING_BYTES));
    variableBytes += bytes + 1 + POINTER_BYTES;
    variables += 1;
  }
  if (variables * variableBytes > MOST_VARIABLE_WORK)
    throw tooLarge(
      `Its environment has ${variables.toLocaleString("en")} variables with ${shown(variableBytes)} together`,
      `so many may have ${shown(MOST_VARIABLE_WORK / variables)}; leave out what it does not need`,
    );
  if (argumentBytes + variableBytes > MOST_BYTES)
    throw tooLarge(
      `Its arguments and environment have ${shown(argumentBytes + variableBytes)} together`,
      `a program can be given ${shown(MOST_BYTES)}; put the rest into a file`,
    );
}

function shortest(bytes: number): string {
  return `a program can be given ${shown(bytes)} in one piece; put it into a file`;
}

function shown(bytes: number): string {
  return `${Math.floor(bytes).toLocaleString("en")} bytes`;
}

function tooLarge(what: string, limit: string): ReeveError {
  return new ReeveError({
    code: "start-too-large",
    kind: "usage",
    message: `${what}, too large to start a program with: ${limit}.`,
  });
}
