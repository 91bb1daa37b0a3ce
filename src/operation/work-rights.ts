/**
 * What a caller may do to an item of work. The operator may do everything. A
 * session may change what it added, and what a session that it started works
 * on; its worker may report about it, but neither approve it nor change what is
 * asked.
 */
import type { WorkChangeType } from "../fleet/work-change.ts";
import type { WorkItem } from "../fleet/work.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import { callerName } from "../session/caller.ts";
import type { OperationContext } from "./contract.ts";
import { scopeOf } from "./scope.ts";

/** What its worker may say about it. */
const REPORTS: readonly WorkChangeType[] = ["built", "finalise", "done", "fail", "release"];

export function requireMayChange(
  { caller, store }: Pick<OperationContext, "caller" | "store">,
  item: WorkItem,
  change: WorkChangeType,
): void {
  if (caller.kind !== "session") return;
  // Who worked on it earlier has nothing to say while another does.
  const workerId = item.flight?.sessionId ?? item.sessions.at(-1);
  const isWorker = workerId === caller.id;
  if (isWorker && REPORTS.includes(change)) return;
  const worker = workerId === undefined ? undefined : store.registry.get(workerId);
  const isAbove =
    worker !== undefined && scopeOf(store.registry, caller, { operator: "any", session: "below" }).has(worker);
  const isOwn = item.createdBy === callerName(caller) || isAbove;
  if (isOwn && !(isWorker && change === "approve")) return;
  throw new ReeveError({
    code: "not-allowed",
    kind: "forbidden",
    message: isWorker
      ? `A worker may report about ${item.id} (${REPORTS.join(", ")}), but not ${WORDS[change] ?? change} it: that is up to whoever added it or gave it out, and to the operator.`
      : `${item.id} is not yours: a session may change an item that it added, that it works on, or that a session it started works on; the operator may change any.`,
  });
}

const WORDS: Partial<Record<WorkChangeType, string>> = { "request-changes": "request changes of" };
