/**
 * Which session keeps another out of a checkout. A session that declares a
 * branch claims the checkout it works in: while it lives, nobody else works
 * there, because whoever checks out another branch would change it for both.
 * Sessions that declare no branch share a checkout as they always did.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Session } from "../session/session.ts";

/** Somebody who wants to work in a checkout. */
export interface Claim {
  readonly id: string;
  readonly name: string;
  readonly branch: string | null;
}

/** Of those who are there, the first with whom this one cannot share. */
export function rivalOf(claim: Claim, there: readonly Claim[]): Claim | undefined {
  return there.find(({ id, branch }) => id !== claim.id && (branch !== null || claim.branch !== null));
}

export function claimOf({ id, identity: { name, branch } }: Session): Claim {
  return { id, name, branch };
}

/** It runs there, or will without anybody's doing. */
export function worksIn({ checkout, process, wish }: Session, root: string): boolean {
  const isAlive = process.exit === null || process.restart.dueAt !== null || wish.stop?.next === "restart";
  return checkout.root === root && isAlive;
}

export function checkoutTaken(root: string, claim: Claim, rival: Claim, advice: string): ReeveError {
  const who = `Session ${rival.name} already works in ${root}`;
  const why =
    rival.branch === null
      ? `, so a session that declares branch ${claim.branch} cannot have that checkout for itself`
      : ` and declared branch ${rival.branch} for it`;
  return new ReeveError({
    code: "checkout-taken",
    kind: "conflict",
    message: `${who}${why}; ${advice}.`,
    details: { session_id: rival.id },
  });
}
