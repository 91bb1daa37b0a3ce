/** The record of a session that was just asked for: nothing has happened yet but the asking. */
import { askedFor, type Caller, callerName } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import { NO_NOTICE } from "./notice.ts";
import type { Change } from "./outcome.ts";
import type { Reason, Session } from "./session.ts";

type Identity = Pick<
  Session,
  | "id"
  | "name"
  | "role"
  | "agent"
  | "hasTurns"
  | "runtime"
  | "launch"
  | "restartPolicy"
  | "parentId"
  | "outputsDir"
  | "branch"
  | "nativeId"
  | "watch"
>;

export interface SessionRequest extends Identity {
  readonly transcriptPath: string | null;
  readonly observabilityReason: string;
}

export function planSession(request: SessionRequest, now: number, caller: Caller): Change {
  const { transcriptPath, observabilityReason, ...identity } = request;
  const evidence = askedFor(caller, now);
  const reason: Reason = { code: "start", text: "Starting on request.", evidence };
  const session: Session = {
    ...identity,
    startedBy: callerName(caller),
    lastCommand: null,
    desired: "running",
    state: "starting",
    reason,
    pauseMode: null,
    suspended: false,
    stop: null,
    incarnation: 1,
    place: null,
    createFailures: null,
    liveness: {
      status: "absent",
      evidence: { source: "supervisor", detail: "its process has not been started yet", at: now },
    },
    observability: { status: "pending", expected: true, reason: observabilityReason, transcriptPath },
    activity: { status: "starting", asks: null, evidence },
    turns: 0,
    turnOpen: false,
    lastTurn: null,
    approvals: [],
    background: [],
    stalledAt: null,
    transcriptCursor: null,
    usage: null,
    exit: null,
    restart: { count: 0, recentAt: [], dueAt: null },
    held: null,
    notice: NO_NOTICE,
    createdAt: now,
    startedAt: null,
    lastActivityAt: null,
    endedAt: null,
    revision: 1,
  };
  const planned: SessionEvent = {
    type: "session-planned",
    name: session.name,
    agent: session.agent,
    role: session.role,
  };
  return { session, events: [planned, { type: "session-starting", incarnation: 1, reason }] };
}
