/** Which of the user's own arguments contradict what Reeve must control. */
import { ReeveError } from "../../platform/reeve-error.ts";

export function refuseContradictions(args: readonly string[], model: string | null): void {
  for (const [index, argument] of args.entries()) {
    const name = argument.split("=", 1)[0] ?? "";
    const advice = REFUSED.get(name);
    if (advice !== undefined) throw refusal("arguments-unsupported", `${name} cannot be given here: ${advice}`);
    if (model !== null && (name === "--model" || name === "-m"))
      throw refusal("model-given-twice", `The model is given twice: leave out either --model or ${name} after --.`);
    if (argument === "--") throw refusal("arguments-unsupported", "Give the prompt before --, not after it.");
    if (index === 0 && SUBCOMMANDS.has(argument)) {
      throw refusal("arguments-unsupported", `gemini ${argument} is not a conversation: run it in your own terminal.`);
    }
  }
}

const CONVERSATION = "Reeve chooses the conversation; start a session, or restart one to continue its conversation.";
const PROMPT = "give the prompt to reeve start, before the --.";
const NO_TERMINAL = "a session is Gemini CLI in its terminal; leave it out.";
const LISTING = "it prints and exits; run it in your own terminal.";

const REFUSED: ReadonlyMap<string, string> = new Map([
  ["--resume", CONVERSATION],
  ["-r", CONVERSATION],
  ["--session-id", CONVERSATION],
  ["--session-file", CONVERSATION],
  ["--prompt", PROMPT],
  ["-p", PROMPT],
  ["--prompt-interactive", PROMPT],
  ["-i", PROMPT],
  ["--acp", NO_TERMINAL],
  ["--experimental-acp", NO_TERMINAL],
  ["--output-format", NO_TERMINAL],
  ["-o", NO_TERMINAL],
  ["--worktree", "start the session in the worktree instead."],
  ["-w", "start the session in the worktree instead."],
  ["--sandbox", "its container does not see this session's home; leave it out."],
  ["-s", "its container does not see this session's home; leave it out."],
  ["--list-sessions", LISTING],
  ["--delete-session", LISTING],
  ["--list-extensions", LISTING],
  ["-l", LISTING],
  ["--version", LISTING],
  ["-v", LISTING],
  ["--help", LISTING],
  ["-h", LISTING],
]);

const SUBCOMMANDS = new Set(["mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"]);

function refusal(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}
