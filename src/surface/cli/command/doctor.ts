import { answer } from "../answer.ts";
import { callerEnvironment } from "../caller-environment.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { diagnosisText } from "../doctor-text.ts";

export const doctorCommand: CliCommand = {
  name: "doctor",
  summary: "check that Reeve works here; with a session, find out which layer is broken for it",
  arguments: [{ name: "session", isOptional: true, completion: "session" }],
  options: [
    {
      name: "service",
      value: "[NAME=]URL",
      isRepeatable: true,
      summary: "try this service as well; repeat it for more",
    },
  ],
  notes: [
    "With a session, everything it depends on is tried twice: by Reeve itself, and from where the session lives, in its agent's sandbox. What works here and fails there is called a sandbox artefact, and not down. It takes about 6 seconds at most.",
    "Exits with 1 if there is a problem. An agent that is not installed or not logged in is no problem. Reeve looks for agents on the PATH of this shell. It reads from their files and variables whether you are logged in, and does not ask the vendors.",
  ],
  examples: [
    { line: "reeve doctor", does: "what works here, and what to do about the rest" },
    { line: "reeve doctor fix", does: "which layer is broken for the session fix" },
    {
      line: "reeve doctor fix --service chroma=http://localhost:8000",
      does: "the same, and whether it reaches Chroma",
    },
  ],

  async run(input, context) {
    const [session] = input.arguments;
    const services = input.texts("service");
    const found = await context.client().diagnose({
      ...(session === undefined ? {} : { session }),
      ...(services.length === 0 ? {} : { services: [...services] }),
      environment: callerEnvironment(context),
      cwd: cwdOf(context),
    });
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
