import type { Client } from "../../../client/create-client.ts";
import type { InputOf, SessionView } from "../../../client/operation-types.ts";
import { ReeveError } from "../../../platform/reeve-error.ts";
import { callerEnvironment } from "../caller-environment.ts";
import type { CliContext, CliCommand } from "../command.ts";
import { errorObject } from "../failure.ts";
import { carryOutAll, type Result, statusOf, type Task, tellingMistakes } from "../manifest-command.ts";
import { FILE_OPTION, manifestPath, type ManifestPlan, planOf, shownPath } from "../manifest-file.ts";
import { oneLine } from "../session-text.ts";
import { endOne } from "./end.ts";

/** Each start reads files and asks git; more at once are no faster on a small machine. */
const AT_ONCE = 4;

type Step = ManifestPlan["steps"][number];

export const upCommand: CliCommand = {
  name: "up",
  summary: "make the sessions of a manifest (reeve.toml) be as it says",
  arguments: [],
  options: [
    FILE_OPTION,
    { name: "prune", summary: "also end sessions that are no longer in the manifest" },
    {
      name: "when",
      value: "WHEN",
      summary: "when to end a session that is replaced; after-turn, the default, waits for the turn under way",
      choices: ["now", "after-turn"],
    },
  ],
  notes: [
    "Run it as often as you like: what is as the manifest says is left alone. A session that the manifest changed is ended and started anew; one that died or was ended is brought back.",
    "Everything is checked first. If the manifest has a mistake, nothing is started; all mistakes are shown, each with its line and column.",
    "Ctrl-C stops it. What was started stays, and the next reeve up does the rest.",
  ],
  examples: [
    { line: "reeve up", does: "with the reeve.toml of this project; reeve plan shows what it would do" },
    { line: "reeve up -f fleet.toml --prune", does: "with another file, and end what it no longer names" },
  ],

  run: (input, context) =>
    tellingMistakes(context, async () => {
      const file = manifestPath(input, context);
      const prune = input.flag("prune");
      const plan = await planOf(context.client(), file, context, { prune });
      const when = input.text("when") === "now" ? "now" : "after-turn";
      context.onInterrupt(() => "Stopped. What was started stays; reeve up does the rest.");
      const isAsked = ({ action }: Step): boolean => action !== "keep" && action !== "remove";
      const removed = plan.steps.filter(({ action }) => action === "remove");
      // First: a session that starts may need the checkout of one that goes.
      const ended = prune
        ? await carryOutAll(
            context,
            removed.toReversed().map((step) => ending(context, step, when)),
            1,
          )
        : [];
      const tasks = plan.steps.filter(isAsked).map((step) => taskFor(context, step, when));
      const results = [...ended, ...(await carryOutAll(context, tasks, AT_ONCE))];
      if (context.isJson) context.output.printJson(objectOf(plan, results, prune));
      else tellRest(context, plan, results, prune ? [] : removed);
      return statusOf(results);
    }),
};

interface Done {
  readonly session: SessionView;
  readonly note: string | null;
}

function taskFor(context: CliContext, step: Step, when: "now" | "after-turn"): Task<Done> {
  // A key for each: asked for again after the daemon died, it is done once.
  const client = context.client({ idempotencyKey: crypto.randomUUID() });
  const { id, session_id: present, start } = step;
  const environment = callerEnvironment(context);
  if (step.action === "bring-back" && present !== null)
    return {
      id,
      verb: "bringing back",
      run: () => client.restartSession({ session: present, if_gone: true, environment }),
      tell: ({ note }) => `Brought back ${id}.${note === null ? "" : ` ${oneLine(note)}`}`,
    };
  const request = { ...start, environment, until: "created" } as InputOf<"startSession">;
  if (step.action === "start" || present === null)
    return {
      id,
      verb: "starting",
      run: () => started(client, request, present),
      tell: ({ note }) => `Started ${id}.${note === null ? "" : ` ${note}`}`,
    };
  return {
    id,
    verb: "replacing",
    async run() {
      await endOne(client, { session: present, when }, context);
      return await started(client, request);
    },
    tell: ({ note }) => `Replaced ${id}. ${oneLine(step.why)}${note === null ? "" : ` ${note}`}`,
  };
}

/** `recorded`: a start of it that somebody began; it may have been given up since because whoever did was gone. */
async function started(
  client: Client,
  request: InputOf<"startSession">,
  recorded: string | null = null,
): Promise<Done> {
  const session = await client.startSession(request);
  const { environment = {} } = request;
  if (session.state === "error" && session.session_id === recorded)
    return await client.restartSession({ session: recorded, if_gone: true, environment });
  if (session.state === "error")
    throw new ReeveError({
      code: "not-started",
      kind: "conflict",
      message: `It was not started: ${session.reason}`,
      details: { session_id: session.session_id },
    });
  return { session, note: session.parked === null ? null : `${oneLine(session.parked.reason)} It is started then.` };
}

function ending(context: CliContext, { id, session_id: session }: Step, when: "now" | "after-turn"): Task<Done> {
  const client = context.client({ idempotencyKey: crypto.randomUUID() });
  return {
    id,
    verb: "ending",
    run: () => endOne(client, { session: session ?? id, when }, context),
    tell: () => `Ended ${id}, which is not in the manifest any more.`,
  };
}

function tellRest(
  context: CliContext,
  { file, steps }: ManifestPlan,
  results: readonly Result<Done>[],
  left: readonly Step[],
): void {
  const kept = steps.filter(({ action }) => action === "keep").length;
  const shown = shownPath(file, context);
  if (results.length === 0) context.output.say(`Nothing to do: ${sessionsAre(kept)} as ${shown} says.`);
  else if (kept > 0) context.output.say(`Unchanged: ${kept}.`);
  for (const { id } of left)
    context.output.note(`${id} is no longer in ${shown} and still runs; reeve up --prune ends it.`);
  if (results.some(({ done }) => !done))
    context.output.note("Not everything was done; fix that and run reeve up again.");
}

function sessionsAre(count: number): string {
  return count === 1 ? "the session is" : `all ${count} sessions are`;
}

function objectOf(plan: ManifestPlan, results: readonly Result<Done>[], prune: boolean): object {
  const outcomes = plan.steps.map(({ id, action, why, session_id }) => {
    const result = results.find((one) => one.id === id);
    if (result === undefined)
      return { id, action: action === "remove" && !prune ? "leave" : action, why, done: true, session_id };
    return result.done
      ? { id, action, why, done: true, session_id: result.outcome.session.session_id, note: result.outcome.note }
      : { id, action, why, done: false, session_id, ...errorObject(result.error) };
  });
  return { file: plan.file, done: results.every(({ done }) => done), results: outcomes };
}
