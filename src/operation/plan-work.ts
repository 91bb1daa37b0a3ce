/**
 * Everything that can be done about the queue now, in order (fleet/plan-work.ts):
 * what `reeve work run` asks for, carries out, and asks for again. Like next_work
 * it commits nothing but repairs.
 */
import * as z from "zod/mini";
import { ACTION_NAMES, type Advice, CODE_NAMES } from "../fleet/advice.ts";
import { planWork as decide, type Step } from "../fleet/plan-work.ts";
import { leftOf } from "../fleet/work-limits.ts";
import { isClosed, type WorkItem } from "../fleet/work.ts";
import { isEnded, type Session } from "../session/session.ts";
import { mostWorkers } from "../supervisor/launch/most-workers.ts";
import { worldOf } from "../supervisor/fleet/world-of-work.ts";
import { broughtBy } from "./caller-environment.ts";
import { defineOperation, type OperationContext } from "./contract.ts";
import {
  count,
  cursor,
  environment as environmentSchema,
  instantOrNull,
  plainText,
  text,
  textOrNull,
  whenUsed,
} from "./field.ts";
import { safe } from "./mail-view.ts";
import { commitRepair, sourcesOf } from "./next-work.ts";
import { iso } from "./session-view.ts";
import { workInput } from "./work-fields.ts";

const about = {
  action: z.enum(ACTION_NAMES).check(z.describe("What to do, or why nothing is done; see docs/spec/next-work.md.")),
  text: text("What to do and why."),
  work_id: textOrNull("The item; null: it is about a worker that has none."),
  title: textOrNull("Its title."),
  session_id: textOrNull("The session that it is about; null: none."),
  session: textOrNull("Its name."),
};

const stepSchema = whenUsed(() =>
  z
    .object({
      ...about,
      revision: z
        .nullable(z.int())
        .check(z.describe("Of the item. Pass it to change_work, which refuses if it changed.")),
      turns: count("Turns that the session has begun."),
      agent: textOrNull("For dispatch: the agent to start."),
      cwd: textOrNull("For dispatch: where to start it. For review: the worker's checkout, where the command is run."),
      branch: textOrNull("For dispatch: the branch that the item asks for."),
      message: textOrNull("For dispatch to a session, fix and send-details: what to send."),
      verify: z
        .nullable(z.array(z.string()))
        .check(z.describe("For review: the command that decides; null: none, so what was built is taken as it is.")),
      commit: textOrNull("For read, review and finalise: the commit, where it is known."),
    })
    .register(z.globalRegistry, { id: "WorkStep", description: "Something that can be done about the queue now." }),
);

const heldSchema = whenUsed(() =>
  z
    .object({
      ...about,
      code: z.nullable(z.enum(CODE_NAMES)).check(z.describe("What stands in the way; null where nothing does.")),
      goes_on: z.boolean().check(z.describe("Whether it goes on by itself, or when a session has been answered.")),
      until: instantOrNull("When a usage limit resets; null: none is reached."),
    })
    .register(z.globalRegistry, { id: "HeldWork", description: "An item for which nothing can be done now." }),
);

export const planWork = defineOperation({
  name: "plan_work",
  summary:
    "Tell everything that can be done about the queue of work now, in order. `reeve work run` carries it out; next_work tells the first of it.",
  method: "POST",
  path: "/v1/work/plan",
  effect: "change",
  callers: { operator: "any", session: "none" },
  example: { most_workers: 2 },
  names: [],
  input: () =>
    z.object({
      agent: z.optional(workInput.agent).check(z.describe("For items that name no agent.")),
      cwd: z.optional(plainText()).check(z.describe("For items that name no directory.")),
      verify: z.optional(workInput.verify).check(z.describe("For items that name no verification command.")),
      most_workers: z
        .optional(z.int().check(z.minimum(1), z.maximum(1_000)))
        .check(z.describe("At most so many workers have an item at once; the settings may allow fewer.")),
      reuse: z
        ._default(z.boolean(), true)
        .check(z.describe("Whether free workers of the pool are given further items.")),
      except: z
        ._default(z.array(z.string()).check(z.maxLength(1_000)), [])
        .check(z.describe("Ids of items that you cannot begin now.")),
      environment: z._default(environmentSchema, {}).check(
        z.meta({
          description: "Your environment: in its PATH the agents are looked for. It is not stored.",
          writeOnly: true,
        }),
      ),
    }),
  output: () =>
    z.object({
      steps: z.array(stepSchema).check(z.describe("What can be done now, in this order.")),
      held: z.array(heldSchema).check(z.describe("Items for which nothing can be done now, with the reason.")),
      blocked: count("Items that wait for others to be done."),
      queued: count("Items that wait for a free worker."),
      open: count("Items that are not done, failed or cancelled."),
      states: z
        .object({
          pending: count("Nobody works on them."),
          "in-progress": count("A worker has them."),
          built: count("They wait for a review."),
          "changes-requested": count("A review sent them back."),
          approved: count("A review accepted them."),
          finalised: count("They are where they belong."),
        })
        .check(z.describe("Open items by state.")),
      workers: z
        .array(
          z.object({
            session_id: text("Its id."),
            session: text("Its name."),
            activity: text("What it does."),
            pooled: z.boolean().check(z.describe("Whether `reeve work run` started it.")),
            work_id: textOrNull("The item that it has; null: none."),
            title: textOrNull("The item's title."),
          }),
        )
        .check(z.describe("Living sessions that have an item, or belong to the pool.")),
      verify_timeout_seconds: z.number().check(z.describe("How long a verification command may run.")),
      cursor: cursor("The newest event before this was decided: follow the log from here."),
    }),

  async run(input, context) {
    const { supervisor, store, caller } = context;
    const head = store.log.head();
    const environment = await broughtBy(caller, input.environment, context);
    const pooled = poolOf(store.registry.all());
    const sources = sourcesOf(context, environment);
    const completed = (item: WorkItem): WorkItem => ({
      ...item,
      agent: item.agent ?? input.agent ?? null,
      cwd: item.cwd ?? input.cwd ?? null,
    });
    const most = mostWorkers(supervisor.settings);
    const machine = Math.min(most.machine ?? Infinity, input.most_workers ?? Infinity);
    const world = await worldOf(
      { ...sources, work: { ...sources.work, open: () => supervisor.work.open().map(completed) } },
      {
        workId: null,
        limits: leftOf({ ...most, machine }, supervisor.work.atWork()),
        reusable: pooled,
      },
    );
    const planned = decide(input.reuse ? world : { ...world, reusable: [] }, {
      pooled,
      verify: input.verify ?? null,
      except: new Set(input.except),
    });
    for (const repair of planned.repairs) await commitRepair(context, repair);
    const open = [...world.items.values()].filter(({ state }) => !isClosed(state));
    return {
      steps: planned.steps.map((step) => viewStep(context, step)),
      held: planned.held.map((advice) => viewHeld(context, advice, world.items.get(advice.workId ?? "") ?? null)),
      blocked: planned.blocked,
      queued: planned.queued,
      open: open.length,
      states: countsOf(open),
      workers: viewWorkers(context, open, pooled),
      verify_timeout_seconds: supervisor.settings.work.verifyTimeoutMs / 1_000,
      cursor: head,
    };
  },
});

/** Living workers of `reeve work run`, whoever ran it. */
function poolOf(sessions: readonly Session[]): readonly string[] {
  return sessions.flatMap((session) =>
    session.identity.pooled && !isEnded(session) && session.process.exit === null ? [session.id] : [],
  );
}

function countsOf(open: readonly WorkItem[]) {
  const counts = { pending: 0, "in-progress": 0, built: 0, "changes-requested": 0, approved: 0, finalised: 0 };
  for (const { state } of open) if (state in counts) counts[state as keyof typeof counts] += 1;
  return counts;
}

function viewAbout(
  { store }: OperationContext,
  { action, text: why, workId, sessionId }: Advice,
  item: WorkItem | null,
) {
  const session = sessionId === null ? undefined : store.registry.get(sessionId);
  return {
    action,
    text: safe(why),
    work_id: workId,
    title: item === null ? null : safe(item.title),
    session_id: sessionId,
    session: session?.identity.name ?? null,
  };
}

function viewStep(context: OperationContext, { advice, item, verify }: Step): z.infer<typeof stepSchema> {
  const { dispatch, message } = advice;
  const worker = context.store.registry.get(advice.sessionId ?? item?.sessions.at(-1) ?? "");
  const checkout = worker === undefined ? null : (worker.checkout.worktree ?? worker.identity.launch.cwd);
  return {
    ...viewAbout(context, advice, item),
    revision: item?.revision ?? null,
    turns: worker?.conversation.turns ?? 0,
    agent: dispatch?.agent ?? null,
    cwd: dispatch?.cwd ?? checkout ?? item?.cwd ?? null,
    branch: dispatch?.branch ?? null,
    // As it is sent: whoever sends it shows it to nobody.
    message: dispatch === null ? message : dispatch.to === null ? null : dispatch.prompt,
    verify: verify === null ? null : [...verify],
    commit: advice.commit,
  };
}

function viewHeld(context: OperationContext, advice: Advice, item: WorkItem | null): z.infer<typeof heldSchema> {
  const { action, code, until, wait } = advice;
  const goesOn = action === "wait" || action === "send-details" || wait !== null || until !== null;
  return { ...viewAbout(context, advice, item), code, goes_on: goesOn, until: until === null ? null : iso(until) };
}

function viewWorkers({ store }: OperationContext, open: readonly WorkItem[], pooled: readonly string[]) {
  const items = new Map(open.flatMap((item) => (item.flight === null ? [] : [[item.flight.sessionId, item] as const])));
  return [...new Set([...items.keys(), ...pooled])].flatMap((id) => {
    const session = store.registry.get(id);
    const item = items.get(id);
    if (session === undefined) return [];
    const { name, pooled: isPooled } = session.identity;
    return [
      {
        session_id: id,
        session: name,
        activity: session.conversation.activity.status,
        pooled: isPooled,
        work_id: item?.id ?? null,
        title: item === undefined ? null : safe(item.title),
      },
    ];
  });
}
