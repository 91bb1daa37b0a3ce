import { callerEnvironment } from "../caller-environment.ts";
import type { CliCommand } from "../command.ts";
import { errorObject } from "../failure.ts";
import { carryOutAll, statusOf } from "../manifest-command.ts";
import { FILE_OPTION, manifestPath } from "../manifest-file.ts";
import { oneLine } from "../session-text.ts";

/** Agents that come up at once slow one another down. */
const AT_ONCE = 4;

export const resumeAllCommand: CliCommand = {
  name: "resume-all",
  summary: "bring back every session that should run and whose process is gone, for example after a reboot",
  arguments: [],
  options: [{ ...FILE_OPTION, summary: "only the sessions that this manifest made" }],
  notes: [
    "Each continues its conversation where its agent can. Sessions that you ended or paused, and commands that finished with 0, are left alone.",
    "Sessions with a restart policy come back by themselves.",
  ],
  examples: [
    { line: "reeve resume-all", does: "after a reboot: everything goes on" },
    { line: "reeve resume-all -f reeve.toml", does: "only what this manifest made" },
  ],

  async run(input, context) {
    const manifest = input.text("file") === undefined ? {} : { manifest: manifestPath(input, context) };
    const { sessions } = await context.client().listSessions({ gone: true, ...manifest });
    const environment = callerEnvironment(context);
    const tasks = sessions.map(({ session_id: session, name }) => {
      const client = context.client({ idempotencyKey: crypto.randomUUID() });
      return {
        id: oneLine(name),
        verb: "bringing back",
        run: () => client.restartSession({ session, if_gone: true, environment }),
        tell: ({ note }: { readonly note: string | null }) =>
          `Brought back ${oneLine(name)}.${note === null ? "" : ` ${oneLine(note)}`}`,
      };
    });
    const results = await carryOutAll(context, tasks, AT_ONCE);
    if (context.isJson)
      context.output.printJson({
        done: results.every(({ done }) => done),
        results: results.map((result) =>
          result.done ? result.outcome : { session: result.id, ...errorObject(result.error) },
        ),
      });
    else if (results.length === 0) context.output.note("Nothing to bring back: every session that should run does.");
    return statusOf(results);
  },
};
