/** What an agent's adapter is told of a session when it reads or writes for it. */
import type { Known } from "../../agent/contract.ts";
import type { Session } from "../../session/session.ts";

export function knownOf(session: Session): Known {
  const { conversation } = session;
  return {
    nativeId: conversation.nativeId,
    transcriptPath: session.watch.observability.transcriptPath,
    version: session.watch.version,
    launch: session.identity.launch,
    activity: conversation.activity.status,
    turnOpen: conversation.turnOpen,
    lastVerdict: conversation.lastTurn?.verdict ?? null,
    approvals: conversation.approvals,
    background: conversation.background,
  };
}
