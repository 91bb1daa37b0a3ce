/** Makes the record of a session that was just asked for and has not been started yet. */
import { askedFor, type Caller, callerName } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { PlannedWatch } from "./input.ts";
import type { Change } from "./outcome.ts";
import { SECTIONS, type Identity, type Reason, SESSION, type Session } from "./session.ts";
import { begin } from "./shape.ts";

export interface SessionRequest extends Omit<Identity, "startedBy" | "createdAt">, PlannedWatch {
  readonly id: string;
  /** Of the pass that its first process gets. */
  readonly passHash: string;
}

/** Only what differs from one session to the next; session.ts says what the rest starts with. */
export function planSession(request: SessionRequest, now: number, caller: Caller): Change {
  const { id, watch, nativeId, transcriptPath, observabilityReason, passHash, ...identity } = request;
  const evidence = askedFor(caller, now);
  const reason: Reason = { code: "start", text: "Starting on request.", evidence };
  const session: Session = begin(SESSION, {
    id,
    state: "starting",
    reason,
    identity: begin(SECTIONS.identity, { ...identity, startedBy: callerName(caller), createdAt: now }),
    wish: begin(SECTIONS.wish, {}),
    process: begin(SECTIONS.process, {
      passes: [{ incarnation: 1, hash: passHash }],
      liveness: {
        status: "absent",
        evidence: { source: "supervisor", detail: "its process has not been started yet", at: now },
      },
    }),
    conversation: begin(SECTIONS.conversation, { nativeId, activity: { status: "starting", asks: null, evidence } }),
    watch: begin(SECTIONS.watch, {
      ...watch,
      observability: { status: "pending", expected: true, reason: observabilityReason, transcriptPath },
    }),
    notice: begin(SECTIONS.notice, {}),
    wakes: begin(SECTIONS.wakes, {}),
  });
  const { name, agent, role } = identity;
  const planned: SessionEvent = { type: "session-planned", name, agent, role };
  const { incarnation } = session.process;
  return { session, events: [planned, { type: "session-starting", incarnation, reason }] };
}
