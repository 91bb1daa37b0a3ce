/**
 * The git checkout that a session works in, as far as its record knows it: the
 * branch that it declared, what is checked out now, and whether the checkout is
 * a worktree that Reeve made for it.
 */
import { BRANCH_POLICIES } from "./branch-policy.ts";
import type { Session } from "./session.ts";
import { added, count, flag, instant, later, object, type Of, oneOf, orNull, text } from "./shape.ts";

/** The code of every reason and error that is about a branch. */
export const BRANCH_MISMATCH = "branch-mismatch";

/** What is checked out: a branch, or a commit without one. If all is null, the checkout is gone. */
const head = object({
  branch: orNull(text),
  /** Where no branch is checked out. */
  commit: orNull(text),
  /** What took it off its branch for a while, such as "a rebase of main". */
  underWay: later(orNull(text), null),
  at: instant,
});
export interface Head extends Of<typeof head> {}
export type SeenHead = Omit<Head, "at">;

export const checkout = object({
  /** The top directory of the checkout, without links; null where the session works in none. */
  root: added(orNull(text), null),
  policy: added(oneOf(...BRANCH_POLICIES), "warn"),
  head: added(orNull(head), null),
  /** Since when another branch is checked out than was declared; null while they agree. */
  mismatchAt: added(orNull(instant), null),
  /** The revision that brought it: whether somebody has seen it (notice.ts). */
  mismatchRevision: added(count, 0),
  /** Another session may work in the same checkout. */
  isShared: added(flag, false),
  /** The worktree that Reeve made for this session; null where it works in somebody else's checkout. */
  worktree: added(orNull(text), null),
});
export interface Checkout extends Of<typeof checkout> {}

export const GONE: SeenHead = { branch: null, commit: null, underWay: null };

/** A rebase moves from commit to commit: until it is over, that is no news. */
export function isSameHead(one: SeenHead, other: SeenHead): boolean {
  return (
    one.branch === other.branch &&
    one.underWay === other.underWay &&
    (one.commit === other.commit || one.underWay !== null)
  );
}

/** It runs, and its checkout is not on the branch that it declared. Of one that does not run, nobody looks. */
export function isMismatched({ checkout: { mismatchAt }, process }: Session): boolean {
  return mismatchAt !== null && process.exit === null;
}

/** Nobody has looked since. */
export function isMismatchUnseen(session: Session): boolean {
  return isMismatched(session) && session.checkout.mismatchRevision > session.notice.seenRevision;
}

/** Messages and answers wait until its branch is checked out again. */
export function isHeldByBranch(session: Session): boolean {
  return session.checkout.policy === "error" && isMismatched(session);
}

/** By its policy, and nobody has asked for a pause since. */
export function isPausedByBranch({ state, reason, wish }: Session): boolean {
  return (
    state === "paused" &&
    wish.desired === "paused" &&
    wish.pauseMode === "detach" &&
    wish.stop === null &&
    reason.code === BRANCH_MISMATCH
  );
}

/** What is wrong, in a sentence, for whoever looks at the session; null while all is well. */
export function mismatchSentence(session: Session): string | null {
  const { checkout, identity } = session;
  if (!isMismatched(session) || checkout.head === null || identity.branch === null) return null;
  return notOnBranch(identity.branch, checkout.head);
}

export function notOnBranch(declared: string, found: SeenHead): string {
  if (found.underWay !== null) return `In its checkout ${found.underWay} is under way; it declared branch ${declared}.`;
  if (found.branch !== null) return `Its checkout is on branch ${found.branch}, not on ${declared}.`;
  if (found.commit !== null)
    return `Its checkout is on commit ${shortCommit(found.commit)} and on no branch, not on ${declared}.`;
  return `Its checkout is gone; it declared branch ${declared}.`;
}

export function shortCommit(commit: string): string {
  return commit.slice(0, 8);
}

/** How what is checked out is called in one word; null: it is gone. */
export function headName({ branch, commit }: SeenHead): string | null {
  return branch ?? (commit === null ? null : shortCommit(commit));
}
