/**
 * Contradictions between an item and the world, and the change that ends each: a
 * worker that is gone has no item, what is approved is built, and an approval is
 * about the commit that was looked at. Pure; the changes are those that everybody
 * makes (work-change.ts), by Reeve itself.
 */
import { shortCommit } from "../session/checkout.ts";
import { builder } from "./built-advice.ts";
import { changedWork, type WorkChange } from "./work-change.ts";
import { type Situation, situationOf, workerFor, type World } from "./work-world.ts";
import { isClosed, type WorkItem } from "./work.ts";

export interface Repair {
  readonly workId: string;
  /** Of the item that it was decided for. */
  readonly revision: number;
  readonly change: Exclude<WorkChange, { readonly type: "edit" }>;
}

/** Each item as it is after its repairs. */
export function repaired(world: World): { readonly items: World["items"]; readonly repairs: readonly Repair[] } {
  const situation = situationOf(world);
  const items = new Map(world.items);
  const repairs: Repair[] = [];
  for (const before of world.items.values()) {
    if (isClosed(before.state)) continue;
    let item = before;
    for (let change = repairOf(situation, item); change !== null; change = repairOf(situation, item)) {
      repairs.push({ workId: item.id, revision: item.revision, change });
      item = changedWork(item, change, { by: "system", at: world.now })?.item ?? item;
      items.set(item.id, item);
    }
  }
  return { items, repairs };
}

/** Null: it is as it should be. Each repair leads out of the state that asked for it. */
function repairOf(world: Situation, item: WorkItem): Repair["change"] | null {
  const { state, reviewed } = item;
  if (reviewed?.verdict === "approved" && state !== "approved" && state !== "finalised" && !isClosed(state))
    return { type: "approve", text: reviewed.text, commit: reviewed.commit };
  if (state === "in-progress") return workerFor(world, item)?.gone ?? null;
  return state === "approved" ? laterCommits(world, item) : null;
}

function laterCommits(world: Situation, item: WorkItem): Repair["change"] | null {
  const head = builder(world, item)?.git?.commit ?? null;
  const commit = item.reviewed?.commit ?? null;
  // Somebody may have given the short form of it.
  if (head === null || commit === null || head.startsWith(commit)) return null;
  return {
    type: "reset-review",
    why: `Commit ${shortCommit(commit)} was approved, and ${shortCommit(head)} came after it.`,
  };
}
