import type { CliCommand } from "../command.ts";
import { forEachSession } from "../each-session.ts";

export const resumeCommand: CliCommand = {
  name: "resume",
  takesKey: true,
  summary: "resume paused sessions and deliver what was held back",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [],
  examples: [{ line: "reeve resume builder", does: "let it go on" }],

  run(input, context) {
    const client = context.client();
    return forEachSession(context, input.arguments, (session) => client.resumeSession({ session }));
  },
};
