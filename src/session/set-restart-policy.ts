/** Changes the restart policy of a session. It counts from the next death on, and for one that waits to be started again. */
import { amend } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import { deathReason, followDeath, saying } from "./follow-death.ts";
import type { Context } from "./input.ts";
import type { Outcome } from "./outcome.ts";
import { changed, unchanged } from "./outcome.ts";
import { isWanted } from "./restart-policy.ts";
import type { RestartPolicy } from "./restart-record.ts";
import type { Session } from "./session.ts";

export function setRestartPolicy(session: Session, policy: RestartPolicy, context: Context): Outcome {
  const { restartPolicy: from } = session.identity;
  if (policy === from) return unchanged(session);
  const next = amend(session, { identity: { restartPolicy: policy } });
  const told: SessionEvent = { type: "restart-policy-changed", from, policy };
  const { exit, liveness, restart } = next.process;
  const isScheduled = restart.dueAt !== null;
  if (exit === null || !restsAfterDeath(next) || isScheduled === isWanted(policy, exit))
    return changed({ session: next, events: [told] });
  if (!isScheduled) {
    const followed = followDeath(next, exit, context);
    return changed({ session: followed.session, events: [told, ...followed.events] });
  }
  const reason = saying(
    deathReason(exit, liveness.evidence),
    `Not started again: its restart policy is now ${policy}.`,
  );
  return changed({
    session: amend(next, { reason, process: { restart: { ...restart, dueAt: null, decided: null } } }),
    events: [told],
  });
}

/** Its process ended by itself, and nobody has asked for anything since. */
function restsAfterDeath({ wish, process }: Session): boolean {
  return (
    process.failure !== "start-failed" &&
    wish.desired === "running" &&
    wish.held === null &&
    (wish.stop === null || wish.stop.next === "rest")
  );
}
