/** Threads that have just begun: whose they are, and that their rollout exists. */
import { type Fields, fieldsOf } from "../../platform/json-fields.ts";
import type { Rpc } from "./rpc.ts";
import { isThreadId } from "./thread-id.ts";

/**
 * A new thread's rollout appears with its first item. An item of a kind that
 * Codex does not know counts as one and leaves no trace in the conversation
 * (0.135.0 to 0.166.0: the rollout has session_meta and the context that the
 * first turn would have written); should a version refuse it, the rollout
 * appears with the first prompt.
 */
export async function materialise(rpc: Rpc, threadId: string): Promise<void> {
  await rpc.call("thread/inject_items", { threadId, items: [{ type: "other" }] }).catch(() => null);
}

/** Of `thread/started`: a person's own; not one for a title (ephemeral), not a subagent's. */
export function threadStartedByUser(params: Fields): string | null {
  const { id, ephemeral, parentThreadId, threadSource } = fieldsOf(params["thread"]);
  const isUsers = ephemeral === false && (parentThreadId ?? null) === null && threadSource === "user";
  return isUsers && isThreadId(id) ? id : null;
}
