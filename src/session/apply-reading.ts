/** Applies a reading of the agent: changes what is known of its turns, approvals, activity, transcript and usage. */
import { normalize } from "node:path";
import { amend } from "./amend.ts";
import { applyApproval, lapse } from "./apply-approval.ts";
import { applyLimits } from "./apply-limit.ts";
import { applySetup } from "./apply-setup.ts";
import { applyEnding, applyTurn, isOldNews, isUnderWay } from "./apply-turn.ts";
import { applyBackground, worksInBackground } from "./background.ts";
import type { SessionEvent } from "./event.ts";
import type { Context } from "./input.ts";
import type { Change } from "./outcome.ts";
import type { Reading, Usage, UsageReading } from "./reading.ts";
import { isSignOfLife, outranks } from "./witness.ts";
import type { Activity, ActivityStatus, Evidence, Observability, Session } from "./session.ts";

export function applyReading(before: Session, raw: Reading, context: Context): Change {
  const session = applyBackground(before, raw);
  const reading = withImpliedEnd(session, withHeldEnd(session, raw));
  const evidence: Evidence = { source: reading.source, detail: reading.detail, at: context.now };
  const status = statusOf(session, reading);
  const steps = [
    (now: Session) => applyTurn(now, reading, evidence),
    (now: Session) => applyEnding(now, reading),
    (now: Session) => applyApproval(now, reading, evidence),
    (now: Session) => lapse(now, status, evidence),
    (now: Session) => applyActivity(now, reading, status, evidence),
    (now: Session) => applyConversation(now, reading, evidence),
    (now: Session) => applyTranscript(now, reading),
    (now: Session) => applySetup(now, reading, evidence),
  ];
  const told = steps.reduce<Change>(
    (before, step) => {
      const after = step(before.session);
      return { session: after.session, events: [...before.events, ...after.events] };
    },
    { session, events: [] },
  );
  const limited = applyLimits(told.session, reading, { events: told.events, now: context.now });
  const learnt = learn(limited, reading);
  if (learnt === before) return { session: before, events: told.events };
  const isNews = told.events.length > 0;
  return {
    session: isNews ? amend(learnt, { conversation: { lastActivityAt: context.now } }) : learnt,
    events: told.events,
  };
}

/** It has answered, and what it left in the background works on: the turn is over when that is. */
function withHeldEnd(session: Session, reading: Reading): Reading {
  const { turn, ...rest } = reading;
  if (turn?.phase !== "completed" || !worksInBackground(session) || !isUnderWay(session, turn.id)) return reading;
  return { ...rest, activity: rest.activity ?? "idle", ending: turn.id === undefined ? {} : { id: turn.id } };
}

/** The transcript would tell the end of a turn that says it is done; once that is lost, its word is all there is. */
function withImpliedEnd(session: Session, reading: Reading): Reading {
  const { ending, transcript = session.watch.observability.status } = reading;
  const isDone =
    ending === undefined ? session.conversation.lastTurn?.isEnding === true : isUnderWay(session, ending.id);
  if (!session.conversation.turnOpen || !isDone || transcript !== "lost" || reading.turn !== undefined) return reading;
  if (worksInBackground(session)) return reading;
  const detail = ending === undefined ? `it had said that it was done; ${reading.detail}` : reading.detail;
  return { ...reading, detail, activity: "idle", turn: { phase: "completed", ...ending } };
}

/** Who works in the background is not idle. */
function statusOf(session: Session, reading: Reading): ActivityStatus | undefined {
  const status = saidOf(session, reading);
  return status === "idle" && worksInBackground(session) ? "working" : status;
}

/** Said outright, or implied by what was said of a turn or an approval. */
function saidOf(session: Session, { activity, turn, approval, isHistory }: Reading): ActivityStatus | undefined {
  if (turn !== undefined && isOldNews(session, turn)) return undefined;
  if (activity !== undefined) return activity;
  // What is long over says nothing of now.
  if (isHistory === true && !isUnderWay(session, turn?.id)) return undefined;
  if (turn !== undefined) return turn.phase === "started" ? "working" : "idle";
  if (approval === undefined) return undefined;
  if ("requested" in approval) return "awaiting-approval";
  if (session.conversation.activity.status !== "awaiting-approval") return undefined;
  const { id } = approval.settled;
  const isLast = id === null || session.conversation.approvals.every((open) => open.id === id);
  return isLast ? "working" : "awaiting-approval";
}

function applyActivity(
  session: Session,
  reading: Reading,
  status: ActivityStatus | undefined,
  evidence: Evidence,
): Change {
  // Ignore activity for an ended process: late hook records can still arrive.
  if (status === undefined || session.process.exit !== null) return { session, events: [] };
  const asks = asksOf(session, reading, status);
  const { activity: before } = session.conversation;
  if (before.status === status && before.asks === asks) return { session, events: [] };
  const activity: Activity = { status, asks, evidence };
  const changed: SessionEvent = { type: "activity-changed", from: before.status, activity };
  if (status !== "awaiting-input" || before.status !== status || before.evidence.source === evidence.source)
    return { session: amend(session, { conversation: { activity } }), events: [changed] };
  // Another source tells of the same question: in its words if the agent's own were not there yet.
  if (asks === null || outranks(before.evidence.source, evidence.source)) return { session, events: [] };
  // It is asked since it was first heard of.
  const reworded: Activity = { ...activity, evidence: { ...evidence, at: before.evidence.at } };
  return {
    session: amend(session, { conversation: { activity: reworded } }),
    events: [{ ...changed, activity: reworded, isReworded: true }],
  };
}

/** A question in full beats what a screen shows of it. */
function asksOf(session: Session, reading: Reading, status: ActivityStatus): string | null {
  if (status === "awaiting-approval") {
    const oldest = session.conversation.approvals[0];
    if (oldest !== undefined) return oldest.title;
  }
  return reading.asks ?? null;
}

function applyConversation(session: Session, { nativeId }: Reading, evidence: Evidence): Change {
  if (nativeId === undefined || nativeId === session.conversation.nativeId) return { session, events: [] };
  return {
    session: amend(session, { conversation: { nativeId } }),
    events: [{ type: "conversation-known", nativeId, evidence }],
  };
}

function applyTranscript(session: Session, reading: Reading): Change {
  const { watch } = session;
  const transcriptPath = believed(session, reading.transcriptPath) ?? watch.observability.transcriptPath;
  const status = reading.transcript ?? watch.observability.status;
  if (transcriptPath === watch.observability.transcriptPath && status === watch.observability.status)
    return { session, events: [] };
  const isNews = status !== watch.observability.status;
  const observability: Observability = isNews
    ? { status, expected: status === "observable", reason: reading.detail, transcriptPath }
    : { ...watch.observability, transcriptPath };
  const events = isNews
    ? [{ type: "observability-changed" as const, from: watch.observability.status, observability }]
    : [];
  // Another file is read from its beginning.
  const isSameFile = transcriptPath === watch.observability.transcriptPath;
  const transcriptCursor = isSameFile ? watch.transcriptCursor : null;
  return { session: amend(session, { watch: { observability, transcriptCursor } }), events };
}

/**
 * What a container says is read on this machine: only a file of the session's own directory is believed to be its
 * transcript. Links on the way there are the runtime's to see through.
 */
function believed({ identity }: Session, path: string | undefined): string | undefined {
  if (path === undefined || identity.launch.container === null) return path;
  return normalize(path).startsWith(`${identity.outputsDir}/`) ? path : undefined;
}

/** What is noted without being an event of its own: what it cost, and that a turn which had stalled goes on. */
function learn(session: Session, { source, usage }: Reading): Session {
  const revived =
    session.conversation.stalledAt !== null && isSignOfLife(source)
      ? amend(session, { conversation: { stalledAt: null } })
      : session;
  return usage === undefined
    ? revived
    : amend(revived, { conversation: { usage: addUsage(session.conversation.usage, usage) } });
}

function addUsage(before: Usage | null, { kind, usage }: UsageReading): Usage {
  if (kind === "total" || before === null) return usage;
  return {
    inputTokens: before.inputTokens + usage.inputTokens,
    cachedInputTokens: before.cachedInputTokens + usage.cachedInputTokens,
    outputTokens: before.outputTokens + usage.outputTokens,
    costUsd: before.costUsd === null && usage.costUsd === null ? null : (before.costUsd ?? 0) + (usage.costUsd ?? 0),
  };
}
