/** What is to be done about an item that is built, or approved. Pure. */
import { type Advice, advise } from "./advice.ts";
import { adviseUncommitted, uncommitted } from "./flight-advice.ts";
import { isElsewhere, type Situation, workerFor } from "./work-world.ts";
import { MOST_ROUNDS, type WorkItem } from "./work.ts";
import { adviseHindered } from "./worker-advice.ts";
import type { WorkerFacts } from "./worker-facts.ts";

export function adviseBuilt(world: Situation, item: WorkItem): Advice {
  const hindered = adviseUnsettled(world, item);
  if (hindered !== null) return hindered;
  if (item.review === "none") return finalise(world, item, "needs no review");
  const commit = builtCommit(world, item);
  const what = commit === null ? "what was done" : `commit ${commit}`;
  const verify =
    item.verify === null || item.verification !== null ? "" : ` Run its verification first: ${item.verify.join(" ")}.`;
  const last = item.rounds >= MOST_ROUNDS ? " Changes were requested three times already: one more fails it." : "";
  return advise(
    "review",
    `"${item.title}" is built: review ${what}.${verify} Then report approve or request-changes, with the commit you looked at.${last}`,
    {
      workId: item.id,
      sessionId: item.result?.sessionId ?? null,
      commit,
      report: ["approve", "request-changes"],
    },
  );
}

export function adviseFinalise(world: Situation, item: WorkItem): Advice {
  return adviseUnsettled(world, item) ?? finalise(world, item, "is approved");
}

function finalise(world: Situation, item: WorkItem, why: string): Advice {
  const commit = item.reviewed?.commit ?? builtCommit(world, item);
  const what = commit === null ? "what was built" : `commit ${commit}`;
  return advise("finalise", `"${item.title}" ${why}: merge or deliver ${what}, then report finalise.`, {
    workId: item.id,
    commit,
    report: ["finalise"],
  });
}

/** Its builder is still at something, or left files that no review would see. */
function adviseUnsettled(world: Situation, item: WorkItem): Advice | null {
  const worker = builder(world, item);
  if (worker === null) return null;
  const hindered = adviseHindered(world, item, worker);
  if (hindered !== null) return hindered;
  const dirty = uncommitted(item, worker);
  return dirty === 0 ? null : adviseUncommitted(item, worker, dirty, wasToldSince(item, worker));
}

/** A turn began after it was built: it had its chance. */
function wasToldSince({ result, changedAt }: WorkItem, { lastTurn }: WorkerFacts): boolean {
  const startedAt = lastTurn?.startedAt ?? null;
  return startedAt === null || startedAt > (result?.at ?? changedAt);
}

/** Whose checkout shows what was built: not one that has gone on to something else. */
export function builder(world: Situation, item: WorkItem): WorkerFacts | null {
  const worker = workerFor(world, item);
  return worker === undefined || worker.gone !== null || isElsewhere(world, item, worker) ? null : worker;
}

function builtCommit(world: Situation, item: WorkItem): string | null {
  return builder(world, item)?.git?.commit ?? item.commits.at(-1) ?? null;
}
