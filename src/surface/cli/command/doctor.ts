import { answer } from "../answer.ts";
import { callerEnvironment } from "../caller-environment.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { diagnosisText } from "../doctor-text.ts";

export const doctorCommand: CliCommand = {
  name: "doctor",
  summary: "check that Reeve works here: tmux, and which agents are installed and logged in",
  arguments: [],
  options: [],
  notes: [
    "Exits with 1 if there is a problem. An agent that is not installed or not logged in is no problem. Reeve looks for agents on the PATH of this shell. It reads from their files and variables whether you are logged in, and does not ask the vendors.",
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
