import { callerEnvironment } from "../caller-environment.ts";
import type { CliCommand } from "../command.ts";
import { forEachSession } from "../each-session.ts";

export const restartCommand: CliCommand = {
  name: "restart",
  takesKey: true,
  summary: "stop sessions and start them again, in the same conversation where the agent can",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [
    {
      name: "grace",
      value: "SECONDS",
      type: "number",
      summary: "how long processes may take to end before they are killed",
    },
    { name: "timeout", value: "SECONDS", type: "number", summary: "how long to wait until it is up (default 45)" },
  ],
  examples: [{ line: "reeve restart builder", does: "start it again; this also works after it died" }],

  run(input, context) {
    const client = context.client();
    const grace = input.number("grace");
    const timeout = input.number("timeout") ?? 45;
    const environment = callerEnvironment(context);
    return forEachSession(context, input.arguments, (session) =>
      client.restartSession({
        session,
        environment,
        timeout_seconds: timeout,
        ...(grace === undefined ? {} : { grace_seconds: grace }),
      }),
    );
  },
};
