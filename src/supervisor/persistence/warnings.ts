/**
 * Says what cannot be kept of a session, once for each cause, and when it is
 * kept again: as events, so that whoever looks later finds them. What was said
 * is read from the log, so another daemon does not say it again.
 */
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import type { LoggedEvent, SessionEvent } from "../../session/event.ts";
import type { EventLog } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface Warnings {
  failed(sessionId: string, what: string, why: string): Promise<void>;
  /** `missing`: lines that are lost for good. */
  worked(sessionId: string, what: string, missing?: number): Promise<void>;
  /** What cannot be kept now, a sentence each. */
  open(sessionId: string): readonly string[];
  forget(sessionId: string): void;
}

const TYPES = ["persistence-warned", "persistence-resumed"] as const;

export function createWarnings(parts: {
  readonly ledger: Pick<Ledger, "commitFor">;
  readonly log: Pick<EventLog, "latest">;
}): Warnings {
  /** By session, by what: why it cannot be kept; null: it can. */
  const known = new Map<string, Map<string, string | null>>();

  async function knownOf(sessionId: string, what: string): Promise<string | null> {
    const said = known.get(sessionId)?.get(what);
    if (said !== undefined) return said;
    const last = await parts.log.latest({ sessionId, types: TYPES, fits: (body) => isAbout(body, what) });
    return last?.body.type === "persistence-warned" ? last.body.why : null;
  }

  /** Nobody waits for the commit: whoever has the session for itself may be waiting for what is kept of it. */
  function say(sessionId: string, what: string, why: string | null, event: SessionEvent): void {
    remember(sessionId, what, why);
    parts.ledger
      .commitFor(sessionId, () => ({ events: [{ sessionId, body: event }] }))
      .catch(() => known.get(sessionId)?.delete(what));
  }

  function remember(sessionId: string, what: string, why: string | null): void {
    const ofSession = known.get(sessionId) ?? new Map<string, string | null>();
    known.set(sessionId, ofSession.set(what, why));
  }

  return {
    async failed(sessionId, what, why) {
      const said = await knownOf(sessionId, what);
      if (said === why) return remember(sessionId, what, why);
      say(sessionId, what, why, { type: "persistence-warned", what, why });
    },
    async worked(sessionId, what, missing = 0) {
      const said = await knownOf(sessionId, what);
      if (said === null) return remember(sessionId, what, null);
      say(sessionId, what, null, { type: "persistence-resumed", what, missing });
    },
    open: (sessionId) =>
      [...(known.get(sessionId) ?? [])].flatMap(([what, why]) => (why === null ? [] : [`${what}: ${why}`])),
    forget: (sessionId) => void known.delete(sessionId),
  };
}

function isAbout(body: LoggedEvent["body"], what: string): boolean {
  return (body.type === "persistence-warned" || body.type === "persistence-resumed") && body.what === what;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full. Make room; Reeve tries again and goes on.",
  EDQUOT: "Your quota on this disk is used up. Make room; Reeve tries again and goes on.",
  EROFS: "The disk is read-only. Make it writable; Reeve tries again and goes on.",
  EACCES: "Permission denied. Make it writable for you; Reeve tries again and goes on.",
  EPERM: "Permission denied. Make it writable for you; Reeve tries again and goes on.",
};

/** The same words for the same cause: it is by them that a cause is said once. */
export function whyNot(error: unknown): string {
  return REASONS[errnoOf(error) ?? ""] ?? `${messageOf(error)}. Reeve tries again and goes on.`;
}
