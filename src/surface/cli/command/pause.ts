import type { CliCommand } from "../command.ts";
import { forEachSession } from "../each-session.ts";

export const pauseCommand: CliCommand = {
  name: "pause",
  takesKey: true,
  summary: "pause sessions: what is sent to them is held back until they are resumed",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [{ name: "suspend", summary: "stop their processes too; otherwise they run on" }],
  examples: [
    { line: "reeve pause builder", does: "hold back what is sent to it" },
    { line: "reeve pause builder --suspend", does: "also stop its processes" },
  ],

  run(input, context) {
    const client = context.client();
    return forEachSession(context, input.arguments, (session) =>
      client.pauseSession({ session, suspend: input.flag("suspend") }),
    );
  },
};
