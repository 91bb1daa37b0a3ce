/** What is to be done about an item that a worker has. Pure. */
import { FAILURES } from "../session/failure.ts";
import { type Advice, advise } from "./advice.ts";
import { promptOf } from "./work-prompt.ts";
import { commitText, goOnText, uncommittedText } from "./worker-text.ts";
import { type Situation, workerFor } from "./work-world.ts";
import type { Flight, WorkItem } from "./work.ts";
import { about, adviseHindered, adviseWait, stale } from "./worker-advice.ts";
import type { WorkerFacts } from "./worker-facts.ts";

/** On a busy machine seconds pass between the first screen of an agent and its first turn. */
const BEGINS_WITHIN_MS = 60_000;
/** What did not arrive within this will not. */
const ARRIVES_WITHIN_MS = 600_000;

/** Sending the same again does not help. */
const NEEDS_PERSON = new Set(["not-logged-in", "billing", "context-full"]);

export function adviseInProgress(world: Situation, item: WorkItem): Advice {
  const { flight } = item;
  const worker = workerFor(world, item);
  if (worker === undefined || flight === null)
    return advise(
      "escalate",
      `Reeve has no record of session ${flight?.sessionId ?? "that works"}, which "${item.title}" was given to. Ask the person: if it is gone, report release.`,
      { code: "stale", workId: item.id, report: ["release"] },
    );
  const hindered = adviseHindered(world, item, worker);
  if (hindered !== null) return hindered;
  if (hasFinished(item, worker)) return adviseFinished(item, worker);
  return worker.turns > flight.turnsBefore ? adviseBroken(item, worker) : adviseNotBegun(world, item, worker, flight);
}

/** A prompt on the command line is taken a moment after the agent is idle, and nobody tells that it is about to be. */
function adviseNotBegun(world: Situation, item: WorkItem, worker: WorkerFacts, { since }: Flight): Advice {
  const waited = world.now - since;
  if (waited <= BEGINS_WITHIN_MS) return adviseWait(world, item, worker, "it is about to begin");
  if (waited > ARRIVES_WITHIN_MS) return stale(item, worker, "it is idle and never began on the item");
  return advise(
    "send-details",
    `Session ${worker.name} is idle and has not begun "${item.title}": look at its screen, and if it was not told, send the message.`,
    { ...about(item, worker), message: promptOf(item) },
  );
}

/** A turn that is about the item completed. */
function hasFinished({ flight }: WorkItem, worker: WorkerFacts): boolean {
  const isOver = flight !== null && worker.turns > flight.turnsBefore && !worker.turnOpen;
  return isOver && worker.lastTurn?.verdict === "completed";
}

function adviseFinished(item: WorkItem, worker: WorkerFacts): Advice {
  const dirty = uncommitted(item, worker);
  if (dirty > 0) return adviseUncommitted(item, worker, dirty, attempts(item, worker) > item.retryLimit);
  return advise(
    "read",
    `Session ${worker.name} finished its turn on "${item.title}": read its reply. If the work is done, report built with a summary; otherwise send it what is missing.`,
    { ...about(item, worker), commit: worker.git?.commit ?? null, report: ["built", "release"] },
  );
}

/** Turns that it has had for this item. */
function attempts({ flight }: WorkItem, { turns }: WorkerFacts): number {
  return turns - (flight?.turnsBefore ?? turns);
}

/** Its last turn failed, was interrupted, or was cut off. */
function adviseBroken(item: WorkItem, worker: WorkerFacts): Advice {
  const { verdict, failure, error } = worker.lastTurn ?? { verdict: null, failure: null, error: null };
  const how = verdict === null ? "was cut off" : verdict === "interrupted" ? "was interrupted" : "failed";
  const why = failure === null ? (error ?? "") : FAILURES[failure].text;
  const what = `The turn of session ${worker.name} on "${item.title}" ${how}. ${why}`.trim();
  if (attempts(item, worker) > item.retryLimit || (failure !== null && NEEDS_PERSON.has(failure)))
    return advise(
      "escalate",
      `${what} Tell the person. If nothing helps, report release, and another worker gets it.`,
      {
        ...about(item, worker),
        report: ["release", "fail"],
      },
    );
  return advise("send-details", `${what} Send the message, or say better what to do.`, {
    ...about(item, worker),
    message: goOnText(item),
  });
}

/** Files that are not committed, where that matters: the item has a branch, or the worker a checkout of its own. */
export function uncommitted({ branch }: WorkItem, { git, worktree }: WorkerFacts): number {
  return branch === null && worktree === null ? 0 : (git?.dirty ?? 0);
}

export function adviseUncommitted(item: WorkItem, worker: WorkerFacts, files: number, wasTold: boolean): Advice {
  const what = uncommittedText(files, `the checkout of session ${worker.name}`);
  const whose = { ...about(item, worker), code: "uncommitted-changes" } as const;
  return wasTold
    ? advise("escalate", `${what}, and it was told before. Ask the person what to do with them.`, whose)
    : advise("send-details", `${what}: send the message, so that there is a commit to review.`, {
        ...whose,
        message: commitText(item, files),
      });
}
