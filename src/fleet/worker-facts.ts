/**
 * What next-work knows of a session that works on items: plain facts, taken from
 * its record and from what surrounds it. What can be read of its transcript is
 * among the facts, but no decision asks for it: a transcript that is missing says
 * nothing about whether the session works.
 */
import { type HealthVerdict, healthOf } from "../session/health.ts";
import type { Session } from "../session/session.ts";
import { endOfFlight } from "./work-worker.ts";

export interface WorkerFacts {
  readonly sessionId: string;
  readonly name: string;
  readonly agent: string;
  readonly role: string;
  readonly cwd: string;
  readonly branch: string | null;
  readonly worktree: string | null;
  readonly state: Session["state"];
  readonly liveness: Session["process"]["liveness"]["status"];
  readonly activity: Session["conversation"]["activity"]["status"];
  readonly observability: Session["watch"]["observability"]["status"];
  readonly health: HealthVerdict;
  readonly hasTurns: boolean;
  /** It was started with a prompt. Until its first turn it may be about to take that. */
  readonly hasPrompt: boolean;
  /** Turns begun. */
  readonly turns: number;
  readonly turnOpen: boolean;
  readonly lastTurn: Pick<
    NonNullable<Session["conversation"]["lastTurn"]>,
    "verdict" | "failure" | "error" | "startedAt"
  > | null;
  readonly approvals: readonly { readonly id: string; readonly title: string; readonly isAnswered: boolean }[];
  /** What it asks, while it does. */
  readonly asks: string | null;
  /** A message for it was accepted and has no outcome yet. */
  readonly hasMessages: boolean;
  /** Its process is proven to have ended. */
  readonly hasExited: boolean;
  /** It will not come back: what becomes of an item that it has. Null: it is there, comes back, or nobody knows. */
  readonly gone: ReturnType<typeof endOfFlight>;
  /** It is to be ended. */
  readonly isEnding: boolean;
  readonly isHeld: boolean;
  /** A usage limit keeps it from beginning anything. */
  readonly parked: { readonly until: number; readonly text: string } | null;
  /** How an orchestrator waits for its agent, and whether its first turn cannot be looked at from outside. */
  readonly wait: "notification" | "poll";
  readonly hidesFirstTurn: boolean;
  readonly lastActivityAt: number | null;
  /** Of its checkout; null where it works in none, or git was not asked yet. */
  readonly git: { readonly commit: string | null; readonly dirty: number } | null;
}

/** What is not in its record. */
export interface AroundWorker extends Pick<WorkerFacts, "hasMessages" | "parked" | "wait" | "hidesFirstTurn" | "git"> {}

export function workerFacts(session: Session, around: AroundWorker): WorkerFacts {
  const { identity, wish, process, conversation, watch, checkout } = session;
  const { lastTurn, activity } = conversation;
  return {
    sessionId: session.id,
    name: identity.name,
    agent: identity.agent,
    role: identity.role,
    cwd: identity.launch.cwd,
    branch: identity.branch,
    worktree: checkout.worktree,
    state: session.state,
    liveness: process.liveness.status,
    activity: activity.status,
    observability: watch.observability.status,
    health: healthOf(session).verdict,
    hasTurns: identity.hasTurns,
    hasPrompt: identity.launch.prompt !== null,
    turns: conversation.turns,
    turnOpen: conversation.turnOpen,
    lastTurn:
      lastTurn === null
        ? null
        : {
            verdict: lastTurn.verdict,
            failure: lastTurn.failure,
            error: lastTurn.error,
            startedAt: lastTurn.startedAt,
          },
    approvals: conversation.approvals.map(({ id, title, answer }) => ({ id, title, isAnswered: answer !== null })),
    asks: activity.asks,
    hasExited: process.exit !== null,
    gone: endOfFlight(session),
    isEnding: wish.desired === "stopped",
    isHeld: wish.stay !== null || wish.held !== null,
    lastActivityAt: conversation.lastActivityAt,
    ...around,
  };
}

/** A turn is under way, or about to be: it is not to be ended, and takes nothing new. */
export function isBusy({ state, hasExited, turnOpen, hasMessages, activity }: WorkerFacts): boolean {
  if (hasExited) return false;
  return (
    turnOpen ||
    hasMessages ||
    state === "planned" ||
    state === "starting" ||
    activity === "starting" ||
    activity === "working"
  );
}

export function isAsking({ hasExited, activity }: WorkerFacts): boolean {
  return !hasExited && (activity === "awaiting-approval" || activity === "awaiting-input");
}

/** It has not begun the turn that its prompt asks for. */
export function isToBegin({ hasTurns, hasPrompt, turns }: WorkerFacts): boolean {
  return hasTurns && hasPrompt && turns === 0;
}
