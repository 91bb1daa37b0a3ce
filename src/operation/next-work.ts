/**
 * The one next action for an item of work, or for the queue (fleet/next-work.ts).
 * It commits nothing but repairs of records that contradict what is proven.
 */
import * as z from "zod/mini";
import { ACTION_NAMES, type Advice, CODE_NAMES } from "../fleet/advice.ts";
import { clipped } from "../fleet/mail.ts";
import { nextWork as decide } from "../fleet/next-work.ts";
import { WORK_RULES, type WorkChangeType } from "../fleet/work-change.ts";
import type { Repair } from "../fleet/work-repair.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { SYSTEM } from "../session/caller.ts";
import { worldOf, type WorldSources } from "../supervisor/fleet/world-of-work.ts";
import { broughtBy } from "./caller-environment.ts";
import type { OperationContext } from "./contract.ts";
import { defineOperation } from "./contract.ts";
import { environment as environmentSchema, instantOrNull, text, textOrNull, whenUsed } from "./field.ts";
import { safe } from "./mail-view.ts";
import { iso } from "./session-view.ts";
import { resolveWork, workReference } from "./work-reference.ts";
import { isOthers, requireConcerned } from "./work-concern.ts";

const change = z.enum(Object.keys(WORK_RULES) as [WorkChangeType, ...WorkChangeType[]]);

const adviceSchema = whenUsed(() =>
  z
    .object({
      action: z.enum(ACTION_NAMES).check(z.describe("What to do next; docs/spec/next-work.md says what each means.")),
      code: z
        .nullable(z.enum(CODE_NAMES))
        .check(z.describe("Why nothing can be done, or what stands in the way; null where nothing does.")),
      text: text("What to do and why."),
      work_id: textOrNull("The item; null: it is about the queue."),
      session_id: textOrNull("The session that it is about; null: none."),
      dispatch: z
        .nullable(
          z.object({
            agent: text("The agent to start."),
            role: textOrNull("Its role; null: any."),
            cwd: text("The directory to start it in."),
            branch: textOrNull("The git branch; null: any."),
            prompt: text("The beginning of what it is told. A start with `work` and without a prompt tells it all."),
            to_session_id: textOrNull("An idle worker that can take it instead; null: start a new one."),
          }),
        )
        .check(z.describe("For dispatch: whom to give the item.")),
      message: textOrNull("For fix and send-details: what to send."),
      approval: z
        .nullable(z.object({ approval_id: text("The question."), title: text("What is asked.") }))
        .check(z.describe("For send-details: the question to answer.")),
      commit: textOrNull("For read, review and finalise: the commit, where it is known."),
      wait: z
        .nullable(
          z.object({
            how: z
              .enum(["notification", "monitor"])
              .check(
                z.describe(
                  "notification: call wait_for_session and nothing else, because the worker shows nothing of its first turn. monitor: you may look at its data meanwhile.",
                ),
              ),
            sessions: z.array(z.string()).check(z.describe("The sessions to wait for.")),
          }),
        )
        .check(z.describe("Whom to wait for; null: nobody.")),
      until: instantOrNull("When a usage limit resets; null: none is reached."),
      report: z
        .array(change)
        .check(z.describe("What to report afterwards with change_work: one of these. Empty: nothing.")),
      repairs: z
        .array(z.object({ work_id: text("The item."), change: change.check(z.describe("What was recorded.")) }))
        .check(z.describe("What Reeve corrected before it answered.")),
    })
    .register(z.globalRegistry, {
      id: "NextWork",
      description: "The next action for an item of work, or for the queue.",
    }),
);

export const nextWork = defineOperation({
  name: "next_work",
  summary:
    "Tell the one next action for an item of work, or for the queue. Nothing is done but repairs of records that contradict what is proven.",
  method: "POST",
  path: "/v1/work/next",
  effect: "change",
  callers: { operator: "any", session: "any" },
  example: { work: "work-k3v9xw2apq" },
  names: [],
  about: ["work"],
  input: () =>
    z.object({
      work: z.optional(workReference).check(z.describe("The item; by default the queue.")),
      environment: z._default(environmentSchema, {}).check(
        z.meta({
          description: "Your environment: in its PATH the agents are looked for. It is not stored.",
          writeOnly: true,
        }),
      ),
    }),
  output: () => adviceSchema,

  async run(input, context) {
    const { supervisor, caller } = context;
    const item = input.work === undefined ? null : await resolveWork(supervisor, input.work);
    if (item !== null) requireConcerned(context, item);
    const environment = await broughtBy(caller, input.environment, context);
    const world = await worldOf(sourcesOf(context, environment), {
      workId: item?.id ?? null,
      self: caller.kind === "session" ? caller.id : null,
      isHidden: (one) => isOthers(context, one),
    });
    const { advice, repairs } = decide(world, item?.id ?? null);
    for (const repair of repairs) await commitRepair(context, repair);
    return viewAdvice(advice, repairs);
  },
});

/** Only if the item is still as it was when that was decided. */
export async function commitRepair(
  { supervisor }: OperationContext,
  { workId, revision, change: repair }: Repair,
): Promise<void> {
  await supervisor.work.change(workId, (item) => (item.revision === revision ? repair : null), { caller: SYSTEM });
}

export function sourcesOf(
  { supervisor, store, clock }: OperationContext,
  brought: Readonly<Record<string, string | undefined>>,
): WorldSources {
  return {
    store,
    clock,
    work: supervisor.work,
    quotas: supervisor.quota.quotas,
    about: supervisor.about,
    gitNow: supervisor.gitNow,
    async problemOf(name) {
      try {
        const runtime = supervisor.runtimes()[0];
        supervisor.requireStartable(name, runtime?.kind ?? "none");
        const environment = supervisor.environment({ caller: brought, envFile: null, given: {} });
        const paths = environment["PATH"] === undefined ? {} : { PATH: environment["PATH"] };
        if (runtime !== undefined)
          await supervisor.programs.find(supervisor.agent(name), runtime.files, { paths, cwd: "/" });
        return null;
      } catch (error) {
        return messageOf(error);
      }
    },
  };
}

/** A start tells its worker the whole text; here it is only shown. */
const LONGEST_PROMPT = 2_000;

function viewAdvice(advice: Advice, repairs: readonly Repair[]): z.infer<typeof adviceSchema> {
  const { dispatch, approval, wait, until } = advice;
  return {
    action: advice.action,
    code: advice.code,
    text: safe(advice.text),
    work_id: advice.workId,
    session_id: advice.sessionId,
    dispatch:
      dispatch === null
        ? null
        : {
            agent: dispatch.agent,
            role: dispatch.role,
            cwd: safe(dispatch.cwd),
            branch: dispatch.branch,
            prompt: clipped(safe(dispatch.prompt), LONGEST_PROMPT),
            to_session_id: dispatch.to,
          },
    message: advice.message === null ? null : safe(advice.message),
    approval: approval === null ? null : { approval_id: approval.id, title: safe(approval.title) },
    commit: advice.commit,
    wait: wait === null ? null : { how: wait.how, sessions: [...wait.sessions] },
    until: until === null ? null : iso(until),
    report: [...advice.report],
    repairs: repairs.map(({ workId, change: made }) => ({ work_id: workId, change: made.type })),
  };
}
