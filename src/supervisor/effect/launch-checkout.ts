/**
 * Looks at the directory of a session again before it is launched: since its
 * start was asked for, or since its last process, the directory may have been
 * deleted and another branch may have been checked out. What is wrong there
 * is nothing that a further try would change, so it is not tried again.
 */
import { checkoutTaken, claimOf, rivalOf, worksIn } from "../../fleet/checkout-claim.ts";
import type { Clock } from "../../platform/clock.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import { BRANCH_MISMATCH, GONE, mismatchSentence, notOnBranch } from "../../session/checkout.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import { findCheckout, readHead } from "../launch/checkout-files.ts";
import type { Ledger } from "../ledger/ledger.ts";

export async function requireCheckout(
  parts: { readonly store: Store; readonly ledger: Ledger; readonly clock: Clock },
  files: SessionFiles,
  session: Session,
): Promise<void> {
  const { identity, process } = session;
  const { cwd } = identity.launch;
  // It was looked at a moment ago, when the start was asked for.
  if (process.incarnation === 1 && identity.branch === null) return;
  if ((await files.stat(cwd))?.isDirectory !== true)
    throw refused("missing-directory", `Its directory ${cwd} does not exist; create it, then restart the session.`);
  const found = await findCheckout(files, cwd).catch((error: unknown) => {
    if (identity.branch === null) return null;
    throw error;
  });
  if (found === null || found === "bare") {
    if (identity.branch !== null) throw refused(BRANCH_MISMATCH, notOnBranch(identity.branch, GONE));
    return;
  }
  const { root, gitDir } = found;
  requireUnclaimed(parts.store, session, root);
  const head = await readHead(files, gitDir);
  if (head === null) return;
  const evidence = { source: "supervisor", detail: `HEAD in ${gitDir}`, at: parts.clock.now() } as const;
  const { incarnation } = process;
  const seen = await parts.ledger.apply(session.id, { type: "checkout-seen", incarnation, root, head, evidence });
  const wrong = mismatchSentence(seen);
  if (wrong !== null && seen.checkout.policy !== "warn")
    throw refused(BRANCH_MISMATCH, `${wrong} Check out ${identity.branch} there, then restart the session.`);
}

/**
 * The first start was checked when it was asked for. Whoever came while this one was dead has the checkout now; of two
 * that are started again at the same moment, the one that was recorded first.
 */
function requireUnclaimed({ registry }: Store, session: Session, root: string): void {
  if (session.process.incarnation === 1 || session.checkout.isShared) return;
  const sessions = registry.all();
  const own = sessions.findIndex(({ id }) => id === session.id);
  const there = sessions.filter(
    (other, at) =>
      (other.process.place !== null || (at < own && other.process.exit === null)) &&
      !other.checkout.isShared &&
      worksIn(other, root),
  );
  const rival = rivalOf(claimOf(session), there.map(claimOf));
  if (rival !== undefined)
    throw checkoutTaken(root, claimOf(session), rival, "end that one first, then restart this one");
}

function refused(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "conflict", message });
}
