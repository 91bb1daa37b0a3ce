/** Sessions and their processes, as runtimes name them. */
import type { Target } from "../../runtime/contract.ts";
import { foundPlace } from "../../session/barred.ts";
import type { Place, Session } from "../../session/session.ts";
import type { Registry } from "../../store/contract.ts";

/** The incarnation of a session that is meant now. */
export function targetOf(session: Session): Target {
  return { sessionId: session.id, incarnation: session.process.incarnation };
}

/** Where Reeve found that process, as far as the records go. */
export function placeIn(registry: Registry, { sessionId, incarnation }: Target): Place | null {
  const session = registry.get(sessionId);
  return session === undefined ? null : foundPlace(session, incarnation);
}
