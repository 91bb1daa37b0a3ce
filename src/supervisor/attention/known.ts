/** What an agent's adapter is told of a session when it reads or writes for it. */
import type { Known } from "../../agent/contract.ts";
import type { Session } from "../../session/session.ts";

export function knownOf(session: Session): Known {
  return {
    nativeId: session.conversation.nativeId,
    transcriptPath: session.watch.observability.transcriptPath,
    version: session.watch.version,
    launch: session.identity.launch,
    activity: session.conversation.activity.status,
    turnOpen: session.conversation.turnOpen,
    lastVerdict: session.conversation.lastTurn?.verdict ?? null,
    approvals: session.conversation.approvals,
    background: session.conversation.background,
  };
}
