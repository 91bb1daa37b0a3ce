/**
 * The one next action for an item, or for the queue. A pure function of the
 * world (work-world.ts): it does nothing itself, and whoever asks does what it
 * says and asks again. STATES has a row for each state of an item; the document
 * docs/spec/next-work.md is made from it.
 *
 * Before it answers it repairs what contradicts itself (work-repair.ts). The
 * repairs are part of the answer: the caller commits them.
 *
 * It never proposes to end a session whose turn is under way, never gives an item
 * to a second worker while a first may live, and concludes nothing from a
 * transcript that is missing.
 */
import { type Action, type Advice, advise } from "./advice.ts";
import { adviseDispatch } from "./dispatch-advice.ts";
import { adviseBuilt, adviseFinalise } from "./built-advice.ts";
import { adviseInProgress } from "./flight-advice.ts";
import { isReviewLimitReached } from "./work-change.ts";
import { fixText } from "./worker-text.ts";
import { type Repair, repaired } from "./work-repair.ts";
import { isElsewhere, type Situation, situationOf, workerFor, type World } from "./work-world.ts";
import { inOrder, isClosed, type WorkItem, type WorkState } from "./work.ts";
import { about, adviseHindered, adviseWait, waitOn } from "./worker-advice.ts";
import { isToBegin } from "./worker-facts.ts";

export interface NextWork {
  readonly advice: Advice;
  /** To be committed, in this order; the advice is about the items as they are then. */
  readonly repairs: readonly Repair[];
}

interface StateRule {
  readonly advise: (world: Situation, item: WorkItem) => Advice;
  /** What it may answer. */
  readonly actions: readonly Action[];
}

const HINDERED = ["wait", "send-details", "escalate"] as const satisfies readonly Action[];

export const STATE_RULES = {
  pending: { advise: adviseDispatch, actions: ["prepare", "dispatch", "none", "escalate"] },
  "in-progress": { advise: adviseInProgress, actions: [...HINDERED, "read"] },
  built: { advise: adviseBuilt, actions: [...HINDERED, "review", "finalise"] },
  "changes-requested": { advise: adviseFix, actions: [...HINDERED, "fix", "prepare", "dispatch", "none"] },
  approved: { advise: adviseFinalise, actions: [...HINDERED, "finalise"] },
  finalised: { advise: adviseFinalised, actions: [...HINDERED, "end-session", "done"] },
  done: { advise: adviseClosed, actions: ["done"] },
  failed: { advise: adviseFailed, actions: ["escalate"] },
  cancelled: { advise: adviseClosed, actions: ["done"] },
} as const satisfies Record<WorkState, StateRule>;

/** `which`: the id of an item, which must be in the world; null: the queue. */
export function nextWork(world: World, which: string | null): NextWork {
  const { items, repairs } = repaired(world);
  const situation = situationOf({ ...world, items });
  const item = which === null ? undefined : items.get(which);
  if (item !== undefined) return { advice: STATE_RULES[item.state].advise(situation, item), repairs };
  return { advice: adviseQueue(situation), repairs };
}

/** What can be done comes before what a person must do, and that before waiting; then whatever is further, and priority. */
function adviseQueue(world: Situation): Advice {
  const open = [...world.items.values()].filter(({ state }) => !isClosed(state)).toSorted(furthestFirst);
  const others: Advice[] = [];
  for (const item of open) {
    const advice = STATE_RULES[item.state].advise(world, item);
    if (!isIdleAnswer(advice)) return advice;
    others.push(advice);
  }
  const waits = others.flatMap(({ wait }) => wait ?? []);
  const sessions = [...new Set(waits.flatMap((wait) => wait.sessions))];
  const how = waits.some((wait) => wait.how === "notification") ? "notification" : "monitor";
  const meanwhile = sessions.length === 0 ? null : ({ how, sessions } as const);
  const escalated = others.find(({ action }) => action === "escalate");
  if (escalated !== undefined) return { ...escalated, wait: meanwhile };
  const [first, ...more] = others.filter(({ action }) => action === "wait");
  if (first !== undefined && more.length === 0) return { ...first, wait: meanwhile };
  if (first !== undefined)
    return advise(
      "wait",
      `${sessions.length} workers are busy. Wait for all of them with one wait_for_session, then ask again.`,
      { wait: meanwhile },
    );
  return blockedQueue(others);
}

/** Everything open is blocked: what ends first is the most useful answer. */
function blockedQueue(others: readonly Advice[]): Advice {
  const parked = others.filter(({ code }) => code === "parked-by-quota");
  const soonest = parked.toSorted((one, other) => (one.until ?? 0) - (other.until ?? 0))[0];
  const blocked = soonest ?? others.find(({ code }) => code === "no-agent-available") ?? others[0];
  return blocked ?? advise("none", "No item of work is open.", { code: "nothing-ready" });
}

function isIdleAnswer({ action }: Advice): boolean {
  return action === "wait" || action === "none" || action === "escalate";
}

/** What was begun is finished before something else is begun. */
function furthestFirst(one: WorkItem, other: WorkItem): number {
  return Number(one.state === "pending") - Number(other.state === "pending") || inOrder(one, other);
}

function adviseFix(world: Situation, item: WorkItem): Advice {
  const worker = workerFor(world, item);
  if (worker === undefined || worker.gone !== null) return adviseDispatch(world, item);
  const hindered = adviseHindered(world, item, worker);
  if (hindered !== null) return hindered;
  if (isElsewhere(world, item, worker))
    return advise("wait", `Session ${worker.name} works on another item first. Wait for it, then ask again.`, {
      ...about(item, worker),
      wait: waitOn(worker),
    });
  return advise(
    "fix",
    `Changes to "${item.title}" were requested (round ${item.rounds}): send the message to ${worker.name}, with work ${item.id}.`,
    { ...about(item, worker), message: fixText(item) },
  );
}

function adviseFinalised(world: Situation, item: WorkItem): Advice {
  const worker = workerFor(world, item);
  const isLeft =
    worker === undefined ||
    worker.gone !== null ||
    worker.isHeld ||
    worker.sessionId === world.self ||
    isElsewhere(world, item, worker) ||
    world.builders.has(worker.sessionId) ||
    world.reusable.includes(worker.sessionId);
  if (isLeft)
    return advise("done", `"${item.title}" is finalised, and nothing of it is left: report done.`, {
      workId: item.id,
      report: ["done"],
    });
  const hindered = adviseHindered(world, item, worker);
  if (hindered !== null) return hindered;
  return isToBegin(worker)
    ? adviseWait(world, item, worker, "it is about to begin")
    : advise("end-session", `"${item.title}" is finalised: end session ${worker.name}, which works on nothing else.`, {
        ...about(item, worker),
      });
}

function adviseFailed(_world: Situation, item: WorkItem): Advice {
  const why = item.why ?? "no reason was given";
  return advise("escalate", `"${item.title}" failed: ${why} Tell the person, who may retry, accept or cancel it.`, {
    code: isReviewLimitReached(item) ? "review-limit-reached" : null,
    workId: item.id,
    report: ["retry", "done", "cancel"],
  });
}

function adviseClosed(_world: Situation, item: WorkItem): Advice {
  return advise("done", `"${item.title}" is ${item.state}: there is nothing to do.`, { workId: item.id });
}
