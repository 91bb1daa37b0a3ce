/** Applies what Reeve concludes about the health of a session that should be working. */
import { amend } from "./amend.ts";
import { healthOf, type Pulse, shouldRun } from "./health.ts";
import { changed, type Outcome, unchanged } from "./outcome.ts";
import type { Evidence, Session } from "./session.ts";

/** Nothing was heard from its turn for too long. */
export function stalled(session: Session, evidence: Evidence): Outcome {
  const { conversation } = session;
  if (!conversation.turnOpen || conversation.stalledAt !== null || conversation.activity.status !== "working")
    return unchanged(session);
  return changed({
    session: amend(session, { conversation: { stalledAt: evidence.at } }),
    events: [{ type: "session-stalled", turn: conversation.turns, evidence }],
  });
}

/** What it was before is kept with its beginning as long as the verdict is the same. */
export function examined(session: Session, pulse: Pulse): Outcome {
  const { process } = session;
  const before = process.pulse?.verdict ?? "healthy";
  if (process.exit !== null || pulse.verdict === before) return unchanged(session);
  if (pulse.verdict !== "healthy" && !shouldRun(session)) return unchanged(session);
  const next = amend(session, { process: { pulse } });
  const from = before === "healthy" ? healthOf(session).verdict : before;
  return changed({ session: next, events: [{ type: "health-changed", from, health: healthOf(next) }] });
}
