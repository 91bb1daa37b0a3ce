import { answer } from "../answer.ts";
import { callerEnvironment } from "../caller-environment.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { diagnosisText } from "../doctor-text.ts";

export const doctorCommand: CliCommand = {
  name: "doctor",
  summary: "check what Reeve needs: tmux, and which agents are there, logged in, and how they are watched",
  arguments: [],
  options: [],
  notes: [
    "Agents are looked for as a session started here would find them. Exits with 1 when something is wrong; an agent that is not installed or not logged in is not. Whether one is logged in is read from its files and variables; nobody is asked.",
  ],
  examples: [{ line: "reeve doctor", does: "what works here, and what to do about the rest" }],

  async run(_input, context) {
    const found = await context.client().diagnose({ environment: callerEnvironment(context), cwd: cwdOf(context) });
    const text = context.isJson ? "" : await diagnosisText(found, context.output);
    answer(context, found, () => text);
    return found.healthy ? 0 : 1;
  },
};

/** Only a relative entry of the PATH depends on it. */
function cwdOf(context: CliContext): string {
  try {
    return context.cwd();
  } catch {
    return "/";
  }
}
