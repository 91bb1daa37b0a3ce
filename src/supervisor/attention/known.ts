/** What an agent's adapter is told of a session when it reads or writes for it. */
import type { Known } from "../../agent/contract.ts";
import { homeDirOf } from "../../session/session-directory.ts";
import type { Identity, Launch, Session } from "../../session/session.ts";

export function knownOf(session: Session): Known {
  const { conversation } = session;
  return {
    nativeId: conversation.nativeId,
    transcriptPath: session.watch.observability.transcriptPath,
    version: session.watch.version,
    launch: launchOf(session.identity),
    activity: conversation.activity.status,
    turnOpen: conversation.turnOpen,
    lastVerdict: conversation.lastTurn?.verdict ?? null,
    approvals: conversation.approvals,
    background: conversation.background,
  };
}

/** Of one in a container: its home is a directory of the session's, and no variable leads elsewhere (launch/home-inside.ts). */
function launchOf({ launch, outputsDir }: Identity): Launch {
  return launch.container === null ? launch : { ...launch, paths: { HOME: homeDirOf(outputsDir) } };
}
