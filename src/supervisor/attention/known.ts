/** What an agent's adapter is told of a session when it reads or writes for it. */
import type { Known } from "../../agent/contract.ts";
import type { Session } from "../../session/session.ts";

export function knownOf(session: Session): Known {
  return {
    nativeId: session.nativeId,
    transcriptPath: session.observability.transcriptPath,
    version: session.watch.version,
    launch: session.launch,
    activity: session.activity.status,
    turnOpen: session.turnOpen,
    lastVerdict: session.lastTurn?.verdict ?? null,
    approvals: session.approvals,
    background: session.background,
  };
}
