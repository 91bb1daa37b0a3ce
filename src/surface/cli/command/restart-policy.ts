import { RESTART_POLICIES } from "../../../session/restart-record.ts";
import type { CliCommand } from "../command.ts";
import { forEachSession } from "../each-session.ts";

export const restartPolicyCommand: CliCommand = {
  name: "restart-policy",
  takesKey: true,
  summary: "change whether Reeve starts sessions again after their process ended",
  arguments: [
    { name: "policy", choices: RESTART_POLICIES },
    { name: "session", isRepeated: true, completion: "session" },
  ],
  options: [],
  notes: [
    "never: it stays as it ended. on-failure: it is started again unless it exited with 0. always: it is started again.",
    "If its process has ended already, a restart that waits is cancelled, or one is planned.",
  ],
  examples: [
    { line: "reeve restart-policy on-failure builder tester", does: "start these two again when they die" },
    { line: "reeve restart-policy never builder", does: "leave it alone from now on" },
  ],

  run(input, context) {
    const [given, ...sessions] = input.arguments;
    const policy = RESTART_POLICIES.find((known) => known === given) ?? "never";
    const client = context.client();
    return forEachSession(context, sessions, (session) => client.setRestartPolicy({ session, policy }), {
      tell: (name) => `${name}: restart policy ${policy}.`,
    });
  },
};
