/**
 * How an item of work changes: the only way from one state to another. Pure. The
 * table says from which states a change is possible and where it leads; the state
 * diagram is drawn from it. What is not in the table is refused with a sentence.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { CallerName } from "../session/caller.ts";
import type { WorkEvent } from "../session/home-event.ts";
import {
  CLOSED_STATES,
  type Flight,
  MOST_ROUNDS,
  type NewWork,
  type Verification,
  type WorkItem,
  type WorkState,
} from "./work.ts";

export type WorkChange =
  /** What is not settled by the machine: only before somebody works on it. */
  | { readonly type: "edit"; readonly fields: Partial<EditableFields> }
  /** A worker has it. */
  | { readonly type: "begin"; readonly flight: Pick<Flight, "sessionId" | "turnsBefore"> }
  /** The worker is gone, or gave it back. The last attempt fails it. */
  | { readonly type: "release"; readonly why: string }
  | { readonly type: "built"; readonly text: string; readonly sessionId: string | null; readonly commits: Commits }
  | {
      readonly type: "verified";
      readonly verification: Omit<Verification, "at">;
      /** What was verified. */
      readonly commit?: string | null;
    }
  | { readonly type: "approve"; readonly text: string; readonly commit: string | null }
  | { readonly type: "request-changes"; readonly text: string; readonly commit: string | null }
  /** Commits came after the approval. */
  | { readonly type: "reset-review"; readonly why: string }
  | { readonly type: "finalise"; readonly commits: Commits }
  | { readonly type: "done"; readonly text: string | null; readonly commits: Commits }
  | { readonly type: "fail" | "cancel"; readonly why: string }
  /** Once more from the start. */
  | { readonly type: "retry" };

export type WorkChangeType = WorkChange["type"];
type Commits = readonly string[];
export type EditableFields = Omit<NewWork, "id" | "createdBy" | "createdAt">;

interface Rule {
  readonly from: readonly WorkState[];
  /** Where it leads; more than one where the item decides. `same`: the state stays. */
  readonly to: readonly (WorkState | "same")[];
}

const OPEN: readonly WorkState[] = ["pending", "in-progress", "built", "changes-requested", "approved", "finalised"];

export const WORK_RULES = {
  edit: { from: ["pending", "changes-requested"], to: ["same"] },
  begin: { from: ["pending", "changes-requested"], to: ["in-progress"] },
  release: { from: ["in-progress"], to: ["pending", "changes-requested", "failed"] },
  built: { from: ["pending", "in-progress", "changes-requested"], to: ["built"] },
  verified: { from: ["built"], to: ["same", "approved", "changes-requested", "failed"] },
  // Approved implies built, whatever was recorded of it before.
  approve: { from: ["pending", "in-progress", "built", "changes-requested"], to: ["approved"] },
  "request-changes": { from: ["built", "approved"], to: ["changes-requested", "failed"] },
  "reset-review": { from: ["approved"], to: ["built"] },
  finalise: { from: ["built", "approved"], to: ["finalised"] },
  // A person may take what failed as it is, or let it be.
  done: { from: [...OPEN, "failed"], to: ["done"] },
  fail: { from: OPEN, to: ["failed"] },
  cancel: { from: [...OPEN, "failed"], to: ["cancelled"] },
  retry: { from: CLOSED_STATES, to: ["pending"] },
} as const satisfies Record<WorkChangeType, Rule>;

export interface ChangedWork {
  readonly item: WorkItem;
  readonly event: WorkEvent;
}

export interface ChangedBy {
  readonly by: CallerName;
  readonly at: number;
}

/** Null: nothing changes, it is so already. Throws where it is not possible. */
export function changedWork(item: WorkItem, change: WorkChange, who: ChangedBy): ChangedWork | null {
  if (isDoneAlready(item, change)) return null;
  const rule: Rule = WORK_RULES[change.type];
  if (!rule.from.includes(item.state)) throw refused(item, change);
  requireReviewed(item, change, who);
  const next = { ...applied(item, change, who), revision: item.revision + 1, changedAt: who.at };
  const { sessionId } = item.flight ?? next.flight ?? { sessionId: null };
  const event: WorkEvent = {
    type: "work-changed",
    workId: item.id,
    title: next.title,
    change: change.type,
    from: item.state,
    state: next.state,
    worker: sessionId,
    why: next.state === item.state ? null : (whyOf(change) ?? (next.state === "failed" ? next.why : null)),
  };
  return { item: next, event };
}

/** A second report of the same is no error: whoever repeats it may not know that the first arrived. */
function isDoneAlready({ state, flight }: WorkItem, change: WorkChange): boolean {
  switch (change.type) {
    case "done":
      return state === "done";
    case "cancel":
      return state === "cancelled";
    case "finalise":
      return state === "finalised";
    case "begin":
      return state === "in-progress" && flight?.sessionId === change.flight.sessionId;
    default:
      return false;
  }
}

function requireReviewed(item: WorkItem, change: WorkChange, { by }: ChangedBy): void {
  if (change.type !== "finalise" && change.type !== "done") return;
  const isApproved = item.state === "approved" || item.state === "finalised";
  // The operator decides; everybody else keeps to what was asked for.
  if (item.review !== "required" || isApproved || by === "operator") return;
  throw new ReeveError({
    code: "review-required",
    kind: "conflict",
    message: `${item.id} needs a review before it is ${change.type === "done" ? "done" : "finalised"}; approve it first: reeve work approve ${item.id}.`,
  });
}

function applied(item: WorkItem, change: WorkChange, { by, at }: ChangedBy): WorkItem {
  switch (change.type) {
    case "edit":
      return { ...item, ...change.fields };
    case "begin":
      return {
        ...item,
        state: "in-progress",
        flight: { ...change.flight, by, since: at },
        sessions: appended(item.sessions, [change.flight.sessionId]),
        result: null,
        verification: null,
      };
    case "release": {
      const failures = item.failures + 1;
      const isLast = failures > item.retryLimit;
      const back = item.reviewed?.verdict === "changes-requested" ? "changes-requested" : "pending";
      return { ...item, state: isLast ? "failed" : back, flight: null, failures, why: change.why };
    }
    case "built": {
      const { text, sessionId, commits } = change;
      const result = { text, sessionId: sessionId ?? item.flight?.sessionId ?? null, by, at };
      const fresh = { verification: null, reviewed: null, why: null };
      return { ...item, state: "built", flight: null, result, ...fresh, commits: appended(item.commits, commits) };
    }
    case "verified":
      return verified(item, change, { by, at });
    case "approve": {
      const { text, commit } = change;
      const reviewed = { verdict: "approved", text, commit, by, at } as const;
      return { ...item, state: "approved", flight: null, reviewed };
    }
    case "request-changes":
      return changesRequested(item, change, { by, at });
    case "reset-review":
      return { ...item, state: "built", reviewed: null };
    case "finalise":
      return { ...item, state: "finalised", commits: appended(item.commits, change.commits) };
    case "done": {
      const { text, commits } = change;
      const result = text === null ? item.result : { text, sessionId: item.flight?.sessionId ?? null, by, at };
      return { ...item, state: "done", flight: null, result, why: null, commits: appended(item.commits, commits) };
    }
    case "fail":
    case "cancel":
      return { ...item, state: change.type === "fail" ? "failed" : "cancelled", flight: null, why: change.why };
    case "retry": {
      const fresh = { failures: 0, rounds: 0, result: null, verification: null, reviewed: null, why: null };
      return { ...item, ...fresh, state: "pending" };
    }
  }
}

/** The command's exit code decides, unless somebody has to look at it. */
function verified(
  item: WorkItem,
  { verification: found, commit = null }: Extract<WorkChange, { readonly type: "verified" }>,
  { by, at }: ChangedBy,
): WorkItem {
  const verification = { ...found, at };
  if (found.exitCode === 0) {
    const reviewed = { verdict: "approved", text: "Its verification passed.", commit, by, at } as const;
    return item.review === "required"
      ? { ...item, verification }
      : { ...item, verification, state: "approved", reviewed };
  }
  const code = found.exitCode === null ? "did not end by itself" : `ended with exit code ${found.exitCode}`;
  const text = `The verification command ${code}:\n${found.text}`;
  return { ...changesRequested(item, { text, commit }, { by, at }), verification };
}

function changesRequested(
  item: WorkItem,
  { text, commit }: { readonly text: string; readonly commit: string | null },
  { by, at }: ChangedBy,
): WorkItem {
  const reviewed = { verdict: "changes-requested", text, commit, by, at } as const;
  if (item.rounds >= MOST_ROUNDS) {
    const why = `Changes were requested ${MOST_ROUNDS} times, and it is still not right: a person must decide.`;
    return { ...item, state: "failed", flight: null, reviewed, why };
  }
  return { ...item, state: "changes-requested", flight: null, rounds: item.rounds + 1, reviewed };
}

/** One review more than the limit allows asked for changes: a person decides. */
export function isReviewLimitReached({ state, rounds, reviewed }: WorkItem): boolean {
  return state === "failed" && rounds >= MOST_ROUNDS && reviewed?.verdict === "changes-requested";
}

const MOST_KEPT = 100;

function appended(list: readonly string[], more: readonly string[]): readonly string[] {
  return [...list.filter((one) => !more.includes(one)), ...more].slice(-MOST_KEPT);
}

function whyOf(change: WorkChange): string | null {
  switch (change.type) {
    case "release":
    case "fail":
    case "cancel":
    case "reset-review":
      return change.why;
    default:
      return null;
  }
}

function refused(item: WorkItem, { type }: WorkChange): ReeveError {
  const isHeldBy = type === "begin" && item.flight !== null ? ` session ${item.flight.sessionId} works on it;` : "";
  return new ReeveError({
    code: "wrong-work-state",
    kind: "conflict",
    message: `${item.id} is ${item.state}, so ${WHAT[type]};${isHeldBy} see reeve work show ${item.id}.`,
    details: { state: item.state },
  });
}

const WHAT: Readonly<Record<WorkChangeType, string>> = {
  edit: "it cannot be changed now",
  begin: "it cannot be given to a worker",
  release: "there is no worker to take it from",
  built: "it cannot become built",
  verified: "there is nothing to verify",
  approve: "it cannot be approved",
  "request-changes": "there is nothing to change about it",
  "reset-review": "it has no approval to take back",
  finalise: "it cannot be finalised",
  done: "it cannot become done",
  fail: "it cannot fail",
  cancel: "it cannot be cancelled",
  retry: "there is nothing to retry",
};
