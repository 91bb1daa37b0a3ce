import { ReeveError } from "../../../platform/reeve-error.ts";
import { answer } from "../answer.ts";
import { installedProgram } from "../called-as.ts";
import type { CliContext, CliCommand } from "../command.ts";
import type { Candidate } from "../completion-candidates.ts";
import { completionScript, SHELLS } from "../completion-script.ts";
import { oneLine } from "../session-text.ts";

export const completionCommand: CliCommand = {
  name: "completion",
  summary: "print the script with which your shell completes commands, options, session names and paths",
  arguments: [{ name: "shell", choices: SHELLS }],
  options: [],
  examples: [
    { line: 'eval "$(reeve completion bash)"', does: "in ~/.bashrc; zsh the same in ~/.zshrc" },
    { line: "reeve completion fish | source", does: "in ~/.config/fish/config.fish" },
  ],

  async run(input, context) {
    const shell = SHELLS.find((known) => known === input.arguments[0]) ?? "bash";
    const script = completionScript(context.root, shell, installedProgram(context.program, context.environment));
    answer(context, { shell, script }, () => script);
    return 0;
  },
};

/** What the printed script calls at every press of the tab key. */
export const completeCommand: CliCommand = {
  name: "complete",
  summary: "answer a shell that completes",
  arguments: [],
  options: [],
  rest: "words...",
  examples: [],
  isHidden: true,

  async run(input, context) {
    const { candidatesFor, protocol } = await import("../completion-candidates.ts");
    const [sessions, work] = await Promise.all([sessionNames(context), workIds(context, input.rest)]);
    context.output.print(protocol(candidatesFor(context.commands, sessions, input.rest, work)));
    return 0;
  },
};

/** Only where one may stand, because every press asks the daemon. */
async function workIds(context: CliContext, words: readonly string[]): Promise<readonly Candidate[]> {
  if (!words.includes("work") && !words.some((word) => word.startsWith("--work"))) return [];
  try {
    const { items } = await context
      .client({ autostart: false })
      .listWork({ limit: 200 }, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return items.map(({ work_id: value, state, title }) => ({ value, description: oneLine(`${state}: ${title}`) }));
  } catch (error) {
    if (error instanceof ReeveError) return [];
    throw error;
  }
}

/** Nobody waits for a tab key longer than this. */
const PATIENCE_MS = 800;

/** A daemon that is not running is not started by the tab key. */
async function sessionNames(context: CliContext): Promise<readonly Candidate[]> {
  try {
    const { sessions } = await context
      .client({ autostart: false })
      .listSessions({}, { signal: AbortSignal.timeout(PATIENCE_MS) });
    return sessions.map(({ name, agent, state, activity }) => ({
      value: name,
      description: oneLine(`${agent}, ${state === "running" ? activity : state}`),
    }));
  } catch (error) {
    if (error instanceof ReeveError) return [];
    throw error;
  }
}
