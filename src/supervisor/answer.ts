/**
 * Answers a question an agent asks: over its protocol, or by the keys a person
 * would press, and then only while the question is on the screen. Pressed once:
 * that it may have been is committed before. What came of it is read, not
 * assumed.
 */
import type { Agent, Channel } from "../agent/contract.ts";
import type { Clock } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { Approval, Decision } from "../session/approval.ts";
import { isOnlySeen } from "../session/approval.ts";
import type { Reading } from "../session/reading.ts";
import type { Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import type { Ledger } from "./ledger.ts";
import { targetOf } from "./target.ts";
import { until } from "./until.ts";

/** The hook tells of a question a moment before it is drawn. */
const LOOKS = 20;
const LOOK_MS = 150;
/** What was approved may have to run before the agent tells; a question that is gone counts as well. */
const VERIFY_MS = 10_000;

export interface AnswerParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly runtime: (kind: string) => Runtime;
  readonly agent: (name: string) => Agent;
  readonly channel: (sessionId: string) => Channel | null;
  readonly hasScreenRules: (agent: string) => Promise<boolean>;
  /** What its screen says right now. */
  readonly look: (session: Session) => Promise<Reading | null>;
}

export async function giveAnswer(parts: AnswerParts, session: Session, approvalId: string): Promise<void> {
  const approval = session.approvals.find((open) => open.id === approvalId);
  if (approval === undefined || approval.answer === null) return;
  const { incarnation } = session;
  try {
    if (approval.answer.stage === "wanted") await give(parts, session, approval, approval.answer.decision);
    const isGone = (): boolean => !isAsked(parts, session, approvalId);
    // Whoever ends the session meanwhile does not wait for this.
    if (await until(parts, () => isGone() || isBeingStopped(parts, session), VERIFY_MS)) return;
    throw unverified();
  } catch (error) {
    const code = error instanceof ReeveError ? error.code : "answer-failed";
    const evidence = { source: "supervisor", detail: messageOf(error), at: parts.clock.now() } as const;
    const reason = { code, text: messageOf(error), evidence };
    await parts.ledger.apply(session.id, { type: "answer-failed", incarnation, approvalId, reason });
  }
}

async function give(parts: AnswerParts, session: Session, approval: Approval, decision: Decision): Promise<void> {
  const given = { type: "answer-given", incarnation: session.incarnation, approvalId: approval.id } as const;
  const channel = parts.channel(session.id);
  // A question from before what the channel knows, or one that was only seen, is answered as a person would.
  const isKnownThere = channel?.lacks() === null && !isOnlySeen(approval);
  if (channel !== null && session.watch.socket !== null && isKnownThere) {
    await parts.ledger.apply(session.id, given);
    failpoint("answer.given");
    await channel.answer(approval.id, decision);
    return;
  }
  const keys = parts.agent(session.agent).encodeAnswer(approval, decision);
  if (keys === null || session.approvals[0]?.id !== approval.id) throw notHere(session);
  if (!(await isOnScreen(parts, session))) throw notOnScreen(session);
  await parts.ledger.apply(session.id, given);
  failpoint("answer.given");
  await parts.runtime(session.runtime).send(targetOf(session), keys);
}

/** Twice in a row: a question is drawn before it listens. An agent without screen rules is taken at its word. */
async function isOnScreen(parts: AnswerParts, session: Session): Promise<boolean> {
  if (!(await parts.hasScreenRules(session.agent))) return true;
  let wasThere = false;
  for (let look = 0; look < LOOKS; look++) {
    const isThere = (await parts.look(session))?.activity === "awaiting-approval";
    if (isThere && wasThere) return true;
    wasThere = isThere;
    await parts.clock.sleep(LOOK_MS);
  }
  return false;
}

function isAsked(parts: AnswerParts, { id, incarnation }: Session, approvalId: string): boolean {
  const session = parts.store.registry.get(id);
  return (
    session !== undefined &&
    session.incarnation === incarnation &&
    session.approvals.some((approval) => approval.id === approvalId)
  );
}

function isBeingStopped(parts: AnswerParts, { id }: Session): boolean {
  const session = parts.store.registry.get(id);
  return session !== undefined && session.stop !== null;
}

function notHere({ name }: Session): ReeveError {
  return new ReeveError({
    code: "approval-not-answerable",
    kind: "conflict",
    message: `This question can only be answered in the session itself: reeve attach ${name}.`,
  });
}

function notOnScreen({ name }: Session): ReeveError {
  return new ReeveError({
    code: "approval-not-on-screen",
    kind: "conflict",
    message: `The question is not on the screen of ${name}, so no key was pressed; look with: reeve data ${name} --source screen.`,
  });
}

function unverified(): ReeveError {
  return new ReeveError({
    code: "answer-unverified",
    kind: "conflict",
    message: "The answer was given, but the agent still asks; look at its screen.",
  });
}
