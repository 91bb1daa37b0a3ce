import { callerEnvironment } from "../caller-environment.ts";
import type { CliCommand } from "../command.ts";
import { forEachSession } from "../each-session.ts";

export const restartCommand: CliCommand = {
  name: "restart",
  takesKey: true,
  summary: "stop sessions and start them again, in the same conversation where the agent can",
  arguments: [{ name: "session", isRepeated: true, completion: "session" }],
  options: [
    { name: "grace", value: "SECONDS", type: "number", summary: "between the polite and the firm signal" },
    { name: "timeout", value: "SECONDS", type: "number", summary: "how long to wait for it to come up (45)" },
  ],
  examples: [{ line: "reeve restart builder", does: "also after it died" }],

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
