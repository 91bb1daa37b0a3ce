/** Which items a caller is advised about. A session can only act on what it gives out itself, or on what nobody has. */
import { isClosed, type WorkItem } from "../fleet/work.ts";
import { ReeveError } from "../platform/reeve-error.ts";
import type { OperationContext } from "./contract.ts";
import { scopeOf } from "./scope.ts";

type Calling = Pick<OperationContext, "caller" | "store">;

/** It is with a session that the caller did not start, or with the caller itself. */
export function isOthers({ caller, store }: Calling, { state, flight, sessions }: WorkItem): boolean {
  if (caller.kind !== "session" || state === "pending" || isClosed(state)) return false;
  const worker = store.registry.get(flight?.sessionId ?? sessions.at(-1) ?? "");
  return worker !== undefined && !scopeOf(store.registry, caller, { operator: "any", session: "below" }).has(worker);
}

export function requireConcerned(calling: Calling, item: WorkItem): void {
  if (!isOthers(calling, item)) return;
  throw new ReeveError({
    code: "not-allowed",
    kind: "forbidden",
    message: `${item.id} is with a session that you did not start, so there is nothing for you to do about it; leave the id out to be told about the rest of the queue.`,
  });
}
