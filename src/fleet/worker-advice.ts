/**
 * What keeps a worker from being read, given something or ended right now. Every
 * state of an item asks this first, so that one rule holds in all of them: a
 * worker whose turn is under way is waited for, and so is one that cannot be
 * reached. Pure.
 */
import { type Advice, advise, type HowToWait } from "./advice.ts";
import type { World } from "./work-world.ts";
import type { WorkItem } from "./work.ts";
import { isAsking, isBusy, type WorkerFacts } from "./worker-facts.ts";

/** Longer than any turn that still makes sense without a word; a person looks then. */
export const STALE_AFTER_MS = 6 * 3_600_000;

/** Null: it is idle, or gone. */
export function adviseHindered(world: World, item: WorkItem, worker: WorkerFacts): Advice | null {
  const wait = (why: string): Advice => adviseWait(world, item, worker, why);
  if (worker.gone !== null) return null;
  if (worker.hasExited) return wait("its process ended, and Reeve deals with that");
  if (worker.liveness === "unreachable") return wait("Reeve cannot reach it now, which does not mean that it is gone");
  if (worker.isEnding) return wait("it is being ended");
  if (worker.state === "paused")
    return advise("escalate", `Session ${worker.name} is paused. Ask the person whether to resume it.`, {
      ...about(item, worker),
    });
  if (isAsking(worker)) return answer(item, worker, wait);
  if (worker.health === "hung" || worker.health === "stalled")
    return stale(item, worker, worker.health === "hung" ? "its process hangs" : "nothing is heard from its turn");
  if (worker.parked !== null && !worker.turnOpen && isWaitingForLimit(worker))
    return parked(item, worker, worker.parked);
  if (worker.turnOpen) return wait("its turn is under way");
  if (isBusy(worker)) return wait(worker.hasMessages ? "a message waits to be given to it" : "it is starting");
  if (!worker.hasTurns) return wait("its program runs");
  // Nobody knows what it does: it may be at work.
  if (worker.activity === "unknown") return wait("Reeve does not know yet what it does");
  return null;
}

/** Its start, a message or the turn that the limit stopped waits. */
function isWaitingForLimit({ state, hasMessages, activity, lastTurn }: WorkerFacts): boolean {
  const isStopped = lastTurn?.failure === "rate-limit" || lastTurn?.failure === "quota-exhausted";
  return state !== "running" || hasMessages || activity === "starting" || isStopped;
}

function parked(item: WorkItem, worker: WorkerFacts, { until, text }: NonNullable<WorkerFacts["parked"]>): Advice {
  return advise(
    "wait",
    `Session ${worker.name} waits for a usage limit and goes on by itself: ${text}. Do not restart it, and do not send the same again.`,
    { ...about(item, worker), code: "parked-by-quota", until, wait: waitOn(worker) },
  );
}

function answer(item: WorkItem, worker: WorkerFacts, wait: (why: string) => Advice): Advice {
  const approval = worker.approvals.find(({ isAnswered }) => !isAnswered) ?? null;
  if (approval === null && worker.approvals.length > 0) return wait("the answer to its question is being given");
  const asks = approval?.title ?? worker.asks ?? "its screen shows what";
  const how =
    approval === null
      ? "Read its screen, and send the answer."
      : "Answer with answer_approval if the task covers it; otherwise ask the person.";
  return advise("send-details", `Session ${worker.name} asks: ${asks}. ${how}`, {
    ...about(item, worker),
    approval: approval === null ? null : { id: approval.id, title: approval.title },
  });
}

export function stale(item: WorkItem, worker: WorkerFacts, why: string): Advice {
  return advise(
    "escalate",
    `Session ${worker.name} needs a look: ${why}. Look with explain_session and at its screen, and tell the person. Do not end it by yourself.`,
    { ...about(item, worker), code: "stale", wait: waitOn(worker) },
  );
}

export function adviseWait(world: World, item: WorkItem, worker: WorkerFacts, why: string): Advice {
  const since = Math.max(worker.lastActivityAt ?? 0, item.flight?.since ?? item.changedAt);
  if (world.now - since > STALE_AFTER_MS) return stale(item, worker, `${why}, and nothing happened for hours`);
  const wait = waitOn(worker);
  const how =
    wait.how === "notification"
      ? "Call wait_for_session and do nothing else with it: before its first turn is over there may be no transcript, which is normal."
      : "Call wait_for_session; you may look at its data meanwhile.";
  return advise("wait", `Session ${worker.name} works on "${item.title}": ${why}. ${how}`, {
    ...about(item, worker),
    wait,
  });
}

export function waitOn(worker: WorkerFacts): { readonly how: HowToWait; readonly sessions: readonly string[] } {
  return { how: howToWait(worker), sessions: [worker.sessionId] };
}

/** An agent that shows nothing of its first turn is waited for until that is over. */
export function howToWait({ wait, hidesFirstTurn, turns, turnOpen }: WorkerFacts): HowToWait {
  const completed = turns - (turnOpen ? 1 : 0);
  return wait === "notification" && hidesFirstTurn && completed < 1 ? "notification" : "monitor";
}

export function about(item: WorkItem, worker: WorkerFacts): Pick<Advice, "workId" | "sessionId"> {
  return { workId: item.id, sessionId: worker.sessionId };
}
