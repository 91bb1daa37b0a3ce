/**
 * Which session may work on an item, and when its work on it is over without a
 * report. Pure. A session is taken to be gone only where that is proven: never
 * because nobody could be asked, and never because its transcript is missing.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import { isEnded, type Session } from "../session/session.ts";
import type { WorkChange } from "./work-change.ts";
import type { WorkItem } from "./work.ts";

/** A session, or one that is about to be started. */
export interface Worker {
  readonly agent: string;
  readonly role: string;
  /** The one it declared, or else the one it is on; null: not known. */
  readonly branch: string | null;
}

export function workerOf({ identity, checkout }: Session): Worker {
  const { agent, role, branch } = identity;
  return { agent, role, branch: branch ?? checkout.head?.branch ?? null };
}

const REQUIRED = ["agent", "role", "branch"] as const;

/** Throws what keeps this worker from doing the item. */
export function requireFitting(item: WorkItem, worker: Worker): void {
  for (const field of REQUIRED) {
    const wanted = item[field];
    if (wanted === null || wanted === worker[field]) continue;
    throw new ReeveError({
      code: "wrong-worker",
      kind: "conflict",
      message: `${item.id} asks for the ${field} ${wanted}, and the worker has ${worker[field] ?? "none"}; take another worker, or change the item: reeve work edit ${item.id} --${field} ${worker[field] ?? "NAME"}.`,
      details: { field, wanted },
    });
  }
}

/** Throws what it is busy with: only what comes after the item may be taken for work on it. */
export function requireFree({ identity, conversation, process, wish }: Session, hasMessages: boolean): void {
  const why =
    wish.desired === "stopped"
      ? "it is being ended"
      : conversation.turnOpen
        ? "a turn of it is under way"
        : hasMessages
          ? "messages wait for it"
          : process.exit !== null
            ? "its process has ended"
            : null;
  if (why === null) return;
  throw new ReeveError({
    code: "worker-busy",
    kind: "conflict",
    message: `Session ${identity.name} cannot take an item now: ${why}; wait for it, or take another session.`,
  });
}

/** What becomes of the item that this session works on; null: it goes on, or nobody knows. */
export function endOfFlight(session: Session): Extract<WorkChange, { readonly type: "release" | "built" }> | null {
  const { identity, process, wish, reason } = session;
  // What its process left behind is ended first.
  if (wish.stop !== null) return null;
  if (isEnded(session))
    return finishedAlone(session) ?? { type: "release", why: `Session ${identity.name} was ended.` };
  // A session that is started again keeps its item.
  if (process.exit === null || process.restart.dueAt !== null) return null;
  return finishedAlone(session) ?? { type: "release", why: `Session ${identity.name} is gone. ${reason.text}` };
}

/** A program without turns reports by its exit status. */
function finishedAlone({ id, identity, process }: Session): Extract<WorkChange, { readonly type: "built" }> | null {
  if (identity.hasTurns || process.exit?.code !== 0) return null;
  return { type: "built", text: "Its program ended with status 0.", sessionId: id, commits: [] };
}
