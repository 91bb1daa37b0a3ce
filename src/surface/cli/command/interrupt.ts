import type { CliCommand } from "../command.ts";
import { forEachSession } from "../each-session.ts";

export const interruptCommand: CliCommand = {
  name: "interrupt",
  takesKey: true,
  summary: "interrupt the turn under way in sessions; they live on, and what waits for them is sent next",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [],
  notes: ["To say what to do instead, use reeve send --interrupt."],
  examples: [{ line: "reeve interrupt builder", does: "stop what it does now" }],

  run(input, context) {
    const client = context.client();
    return forEachSession(context, input.arguments, (session) => client.interruptSession({ session }));
  },
};
