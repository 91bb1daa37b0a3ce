/**
 * Applies what was seen of a session's checkout. If the session declared a
 * branch and another one is checked out, that is a mismatch, and the session's
 * policy says what follows. Without a declared branch nothing can be wrong.
 */
import { amend } from "./amend.ts";
import type { BranchPolicy } from "./branch-policy.ts";
import { byReeve } from "./by-reeve.ts";
import { BRANCH_MISMATCH, headName, isPausedByBranch, isSameHead, mismatchSentence, notOnBranch } from "./checkout.ts";
import type { SessionEvent } from "./event.ts";
import type { Context, Observation } from "./input.ts";
import type { Change, Outcome } from "./outcome.ts";
import { changed, unchanged } from "./outcome.ts";
import { pauseBecause, resumeBecause } from "./pause.ts";
import type { Evidence, Reason, Session } from "./session.ts";

type Seen = Extract<Observation, { type: "checkout-seen" }>;

export function checkoutSeen(session: Session, seen: Seen, context: Context): Outcome {
  const { head: known, root } = session.checkout;
  if (session.process.exit !== null) return unchanged(session);
  if (known !== null && isSameHead(known, seen.head) && root === seen.root) return unchanged(session);
  const head = { ...seen.head, at: seen.evidence.at };
  const next = amend(session, { checkout: { root: seen.root, head } });
  const { branch: declared } = session.identity;
  if (declared === null) return changed({ session: next, events: headChanged(session, seen) });
  if (seen.head.branch !== declared) return changed(mismatched(next, declared, seen, context));
  if (session.checkout.mismatchAt === null) return changed({ session: next, events: [] });
  return changed(restored(next, declared, seen.evidence, context));
}

/** Nobody declared what it should be: worth knowing, and nothing more. */
function headChanged({ checkout: { head: known } }: Session, { head, evidence }: Seen): readonly SessionEvent[] {
  if (known === null || (known.branch === head.branch && known.underWay === head.underWay)) return [];
  return [{ type: "branch-changed", from: headName(known), now: headName(head), evidence }];
}

function mismatched(session: Session, declared: string, { head, evidence }: Seen, context: Context): Change {
  const { policy, mismatchAt } = session.checkout;
  const what = notOnBranch(declared, head);
  const reason: Reason = { code: BRANCH_MISMATCH, text: `${what} ${consequence(policy, declared)}`, evidence };
  const told: SessionEvent = { type: "branch-mismatched", declared, actual: head.branch, policy, reason };
  const marked = amend(session, {
    checkout: { mismatchAt: mismatchAt ?? evidence.at, mismatchRevision: session.revision + 1 },
  });
  return pausedByPolicy({ session: marked, events: [told] }, reason, context);
}

/** It came up, or is wanted again, while another branch is checked out: its policy holds from the first moment on. */
export function heldToBranch(change: Change, evidence: Evidence, context: Context): Change {
  const { identity, checkout } = change.session;
  const what = mismatchSentence(change.session);
  if (what === null || identity.branch === null) return change;
  const text = `${what} ${consequence(checkout.policy, identity.branch)}`;
  return pausedByPolicy(change, { code: BRANCH_MISMATCH, text, evidence }, context);
}

function pausedByPolicy(change: Change, reason: Reason, context: Context): Change {
  const { state, wish, checkout } = change.session;
  const isPausable = state === "running" && wish.desired === "running" && wish.stop === null;
  if (checkout.policy !== "pause" || !isPausable) return change;
  const paused = pauseBecause(change.session, "detach", reason);
  return { session: byReeve(paused.session, "pause", context.now), events: [...change.events, ...paused.events] };
}

function consequence(policy: BranchPolicy, declared: string): string {
  switch (policy) {
    case "warn":
      return "It goes on.";
    case "pause":
      return `It is paused until ${declared} is checked out again.`;
    case "error":
      return `It takes no messages until ${declared} is checked out again.`;
  }
}

function restored(session: Session, branch: string, evidence: Evidence, context: Context): Change {
  const told: SessionEvent = { type: "branch-restored", branch, evidence };
  const well = amend(session, { checkout: { mismatchAt: null } });
  if (!isPausedByBranch(session)) return { session: well, events: [told] };
  const reason: Reason = { code: "resumed", text: `Resumed: branch ${branch} is checked out again.`, evidence };
  const resumed = resumeBecause(well, reason);
  return { session: byReeve(resumed.session, "resume", context.now), events: [told, ...resumed.events] };
}
