/**
 * Applies what happens to approvals: the agent asks, somebody answers through
 * Reeve or in the terminal, the turn or the process ends.
 */
import { amend } from "./amend.ts";
import type { Approval, Decision } from "./approval.ts";
import { isDialog, isOnlySeen } from "./approval.ts";
import { callerName, surfaceOf, SYSTEM } from "./caller.ts";
import type { SessionEvent } from "./event.ts";
import type { Command, Context, Observation } from "./input.ts";
import type { Change, Outcome } from "./outcome.ts";
import { changed, refuse, unchanged } from "./outcome.ts";
import type { Reading } from "./reading.ts";
import type { ActivityStatus, Evidence, Session } from "./session.ts";

export function applyApproval(session: Session, reading: Reading, evidence: Evidence): Change {
  const { conversation } = session;
  const { approval } = reading;
  if (approval === undefined || session.process.exit !== null) return { session, events: [] };
  if ("requested" in approval) {
    const request = approval.requested;
    if (conversation.approvals.some((known) => known.id === request.id)) return { session, events: [] };
    const { choices = null, concerns = null } = approval;
    const told = conversation.approvals.filter((open) => !isDialog(open));
    // What is seen of a question is no other one than the question that is known.
    if ((isOnlySeen(request) || choices !== null) && told.length > 0) return { session, events: [] };
    const asked: Approval = { ...request, requestedAt: evidence.at, choices, concerns, answer: null };
    // One dialog at a time: another question shows that it was answered.
    const closed = settle(session, isDialog, null, "pane", evidence);
    const seen = told.find(isOnlySeen);
    const before = seen === undefined ? { ...closed, events: [] } : replace(closed.session, seen, evidence);
    return {
      session: amend(before.session, {
        conversation: { approvals: [...before.session.conversation.approvals, asked] },
      }),
      events: [
        ...closed.events,
        ...before.events,
        {
          type: "approval-requested",
          approval: request,
          ...(concerns === null ? {} : { concerns }),
          evidence,
          ...(seen === undefined ? {} : { replaces: seen.id }),
        },
      ],
    };
  }
  const { id, decision } = approval.settled;
  return settle(session, (open) => id === null || open.id === id, decision, "pane", evidence);
}

/** The question itself has come: what was seen of it is no question of its own. */
function replace(session: Session, seen: Approval, evidence: Evidence): Change {
  const why: Evidence = { ...evidence, detail: `the question itself came: ${evidence.detail}` };
  return settle(session, (open) => open.id === seen.id, null, "agent", why);
}

/** An agent that went on, or ended, no longer asks. */
export function lapse(session: Session, activity: ActivityStatus | undefined, evidence: Evidence): Change {
  if (activity === undefined || activity === "awaiting-approval") return { session, events: [] };
  return settle(session, () => true, null, "agent", evidence);
}

/** Its process is gone. A dialog that was approved should have let it go on: nobody saw that it did. */
export function lapseWithProcess(session: Session, evidence: Evidence): Change {
  const doubtful = session.conversation.approvals.find(
    (open) => isDialog(open) && open.answer?.decision === "approved",
  );
  const doubted = doubtful === undefined ? session : withAnswer(session, doubtful.id, null);
  return settle(doubted, () => true, null, "agent", evidence);
}

function settle(
  session: Session,
  isMeant: (approval: Approval) => boolean,
  decision: Decision | null,
  by: "pane" | "agent",
  evidence: Evidence,
): Change {
  const settled = session.conversation.approvals.filter(isMeant);
  if (settled.length === 0) return { session, events: [] };
  const events = settled.map<SessionEvent>((approval) => {
    const given = approval.answer?.stage === "given" ? approval.answer : null;
    const isGiven = given !== null && (decision === null || decision === given.decision);
    return {
      type: "approval-settled",
      approvalId: approval.id,
      title: approval.title,
      decision: decision ?? given?.decision ?? null,
      by: isGiven ? given.by : by,
      ...(isGiven && given.via !== null ? { via: given.via } : {}),
      ...(isGiven && given.rule !== null ? { rule: given.rule } : {}),
      evidence,
    };
  });
  return {
    session: amend(session, {
      conversation: { approvals: session.conversation.approvals.filter((open) => !isMeant(open)) },
    }),
    events,
  };
}

export function answer(session: Session, command: Extract<Command, { type: "answer" }>, context: Context): Outcome {
  const { approvalId, decision, rule = null } = command;
  const approval = session.conversation.approvals.find((open) => open.id === approvalId);
  if (approval === undefined)
    return refuse(
      "approval-stale",
      `Session ${session.identity.name} no longer asks that; list what it asks with: reeve approvals.`,
    );
  if (approval.answer !== null) {
    if (approval.answer.decision === decision) return unchanged(session);
    return refuse(
      "approval-answered",
      `Session ${session.identity.name} was answered already: ${approval.answer.decision}; wait until it takes effect.`,
    );
  }
  const { now, caller = SYSTEM } = context;
  const wanted = { decision, stage: "wanted", at: now, by: callerName(caller), via: surfaceOf(caller), rule } as const;
  return changed({
    session: withAnswer(session, approvalId, wanted),
    events: [
      {
        type: "approval-answer-requested",
        approvalId,
        decision,
        turn: session.conversation.turns,
        ...(rule === null ? {} : { rule }),
      },
    ],
  });
}

/** From here on the keys may have been pressed: they are not pressed again. */
export function answerGiven(session: Session, input: Extract<Observation, { type: "answer-given" }>): Outcome {
  const approval = session.conversation.approvals.find((open) => open.id === input.approvalId);
  if (approval === undefined || approval.answer === null) return unchanged(session);
  return changed({
    session: withAnswer(session, approval.id, { ...approval.answer, stage: "given" }),
    events: [],
  });
}

/** Still asked: whoever wanted to answer may try again. */
export function answerFailed(session: Session, input: Extract<Observation, { type: "answer-failed" }>): Outcome {
  const approval = session.conversation.approvals.find((open) => open.id === input.approvalId);
  if (approval === undefined || approval.answer === null) return unchanged(session);
  const { rule } = approval.answer;
  const failed = { type: "approval-answer-failed", approvalId: approval.id, reason: input.reason } as const;
  return changed({
    session: withAnswer(session, approval.id, null),
    events: [rule === null ? failed : { ...failed, rule }],
  });
}

function withAnswer(session: Session, approvalId: string, answer: Approval["answer"]): Session {
  const approvals = session.conversation.approvals.map((open) => (open.id === approvalId ? { ...open, answer } : open));
  return amend(session, { conversation: { approvals } });
}
