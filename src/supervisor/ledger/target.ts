import type { Target } from "../../runtime/contract.ts";
import type { Session } from "../../session/session.ts";

/** The incarnation of a session that is meant now. */
export function targetOf(session: Session): Target {
  return { sessionId: session.id, incarnation: session.process.incarnation };
}
