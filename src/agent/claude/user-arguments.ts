/**
 * The user's own arguments for Claude Code: refuses those that Reeve must
 * decide itself, and takes `--settings` out.
 */
import { ReeveError } from "../../platform/reeve-error.ts";

export interface UserArguments {
  /** Without `--settings`. */
  readonly rest: readonly string[];
  /** A file's path or JSON, as the user gave it. */
  readonly settings: string | null;
}

export function readUserArguments(args: readonly string[]): UserArguments {
  const first = args[0];
  if (first !== undefined && !first.startsWith("-"))
    refuse(first, "only options can be passed on; leave it out, or give the text as the prompt");
  const rest: string[] = [];
  let settings: string | null = null;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] ?? "";
    const [option, value] = splitOption(word);
    if (option === "--settings") {
      settings = value ?? args[(at += 1)] ?? null;
      continue;
    }
    const why = REFUSED[option];
    if (why !== undefined) refuse(option, why);
    rest.push(word);
  }
  return { rest, settings };
}

const OWN_CONVERSATION = "Reeve chooses the conversation itself and resumes it on restart; leave it out";
const NOT_IN_PANE = "the session would not run in Reeve's pane; leave it out";
const NO_HOOKS = "it switches off the hooks by which Reeve sees what happens; leave it out";
const NOT_INTERACTIVE = "Reeve runs Claude Code interactively; leave it out";

const REFUSED: Readonly<Record<string, string>> = {
  "--": "give the text as the prompt instead",
  "--session-id": OWN_CONVERSATION,
  "--resume": OWN_CONVERSATION,
  "-r": OWN_CONVERSATION,
  "--continue": OWN_CONVERSATION,
  "-c": OWN_CONVERSATION,
  "--fork-session": OWN_CONVERSATION,
  "--from-pr": OWN_CONVERSATION,
  "--teleport": OWN_CONVERSATION,
  "--bg": NOT_IN_PANE,
  "--background": NOT_IN_PANE,
  "--cloud": NOT_IN_PANE,
  "--desktop": NOT_IN_PANE,
  "--tmux": NOT_IN_PANE,
  "--bare": NO_HOOKS,
  "--safe-mode": NO_HOOKS,
  "--print": NOT_INTERACTIVE,
  "-p": NOT_INTERACTIVE,
  "--no-session-persistence": NOT_INTERACTIVE,
  "--help": NOT_INTERACTIVE,
  "-h": NOT_INTERACTIVE,
  "--version": NOT_INTERACTIVE,
  "-v": NOT_INTERACTIVE,
};

function splitOption(word: string): readonly [option: string, value: string | null] {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  return equals === -1 ? [word, null] : [word.slice(0, equals), word.slice(equals + 1)];
}

function refuse(argument: string, why: string): never {
  throw new ReeveError({
    code: "arguments-unsupported",
    kind: "usage",
    message: `Claude Code cannot be given ${argument} here: ${why}.`,
    details: { argument },
  });
}
