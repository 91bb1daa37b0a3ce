/** Makes the record of a session that was just asked for and has not been started yet. */
import type { Moment } from "../platform/clock.ts";
import { askedFor, type Caller, callerName } from "./caller.ts";
import type { Checkout } from "./checkout.ts";
import { withCountdowns } from "./countdown.ts";
import type { SessionEvent } from "./event.ts";
import type { PlannedWatch } from "./input.ts";
import type { ManifestOrigin } from "./manifest-origin.ts";
import { momentOf } from "./moment.ts";
import type { Change } from "./outcome.ts";
import { SECTIONS, type Identity, type Reason, SESSION, type Session } from "./session.ts";
import { begin } from "./shape.ts";
import { newStay, untilOf } from "./stay.ts";
import type { TimeOutChoices } from "./time-out.ts";

export interface SessionRequest
  extends Omit<Identity, "startedBy" | "createdAt" | "manifest" | "pooled">, PlannedWatch {
  readonly id: string;
  /** Of the pass that its first process gets. */
  readonly passHash: string;
  /** Where a manifest asks for it. */
  readonly manifest?: ManifestOrigin | null;
  readonly pooled?: boolean;
  /** Of the directory it is started in, where that is in one. */
  readonly checkout?: Partial<Checkout>;
  /** Whose limits it draws on; null where it is not known. */
  readonly account?: string | null;
  /** It has to wait for one of them. */
  readonly hasWaited?: boolean;
  /** What this start says of its time-outs. */
  readonly timeOuts?: TimeOutChoices;
  /** It is held from the start. */
  readonly hold?: { readonly reason: string; readonly forMs: number } | null;
}

/** Only what differs from one session to the next; session.ts says what the rest starts with. */
export function planSession(
  request: SessionRequest,
  now: number,
  caller: Caller,
  moment: Moment = momentOf({ now, random: 0 }),
): Change {
  const { id, watch, nativeId, transcriptPath, observabilityReason, passHash, ...rest } = request;
  const {
    checkout = {},
    account = null,
    hasWaited = false,
    manifest = null,
    pooled = false,
    timeOuts = {},
    hold = null,
    ...identity
  } = rest;
  const stay = hold === null ? null : newStay(hold.reason, hold.forMs, caller, moment);
  const evidence = askedFor(caller, now);
  const reason: Reason = { code: "start", text: "Starting on request.", evidence };
  const session: Session = begin(SESSION, {
    id,
    state: "starting",
    reason,
    identity: begin(SECTIONS.identity, {
      ...identity,
      manifest,
      pooled,
      startedBy: callerName(caller),
      createdAt: now,
    }),
    wish: begin(SECTIONS.wish, { stay }),
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
    checkout: begin(SECTIONS.checkout, checkout),
    quota: begin(SECTIONS.quota, { account, hasWaited }),
    timeouts: begin(SECTIONS.timeouts, { chosen: timeOuts }),
  });
  const { name, agent, role } = identity;
  const planned: SessionEvent = { type: "session-planned", name, agent, role };
  const { incarnation } = session.process;
  const held: readonly SessionEvent[] =
    stay === null ? [] : [{ type: "session-held", why: stay.reason, untilAt: untilOf(stay) }];
  return {
    session: withCountdowns(session, moment),
    events: [planned, { type: "session-starting", incarnation, reason }, ...held],
  };
}
