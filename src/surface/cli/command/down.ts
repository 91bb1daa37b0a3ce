import type { SessionView } from "../../../client/operation-types.ts";
import type { CliCommand } from "../command.ts";
import { errorObject } from "../failure.ts";
import { carryOutAll, statusOf } from "../manifest-command.ts";
import { FILE_OPTION, manifestPath, shownPath } from "../manifest-file.ts";
import { oneLine, stateSentence } from "../session-text.ts";
import { endOne, END_OPTIONS, endRequest } from "./end.ts";

export const downCommand: CliCommand = {
  name: "down",
  summary: "end the sessions that a manifest (reeve.toml) made, in reverse order",
  arguments: [],
  options: [FILE_OPTION, ...END_OPTIONS],
  notes: [
    "The last session of the manifest is ended first, one after another, also those that the file no longer names. Sessions that you started yourself stay.",
    "The manifest is not read, so this also works if it has mistakes or was deleted.",
  ],
  examples: [
    { line: "reeve down", does: "end what reeve up started for this project" },
    { line: "reeve down --when now", does: "without waiting for turns under way" },
  ],

  async run(input, context) {
    const file = manifestPath(input, context);
    const { sessions } = await context.client().listSessions({ manifest: file });
    const tasks = sessions.toSorted(lastFirst).map((session) => {
      const client = context.client({ idempotencyKey: crypto.randomUUID() });
      return {
        id: oneLine(session.name),
        verb: "ending",
        run: () => endOne(client, endRequest(session.session_id, input), context),
        tell: (outcome: { readonly session: SessionView; readonly note: string | null }) =>
          `${stateSentence(outcome.session)}${outcome.note === null ? "" : ` ${oneLine(outcome.note)}`}`,
      };
    });
    const results = await carryOutAll(context, tasks, 1);
    if (context.isJson)
      context.output.printJson({
        file,
        done: results.every(({ done }) => done),
        results: results.map((result) =>
          result.done ? result.outcome : { session: result.id, ...errorObject(result.error) },
        ),
      });
    else if (results.length === 0) context.output.note(`No session of ${shownPath(file, context)} runs.`);
    return statusOf(results);
  },
};

function lastFirst(one: SessionView, other: SessionView): number {
  const by = (other.manifest?.order ?? 0) - (one.manifest?.order ?? 0);
  return by === 0 ? Date.parse(other.created_at) - Date.parse(one.created_at) : by;
}
