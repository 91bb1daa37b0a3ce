/**
 * Answers a question an agent asks: over its protocol, or by the keys a person
 * would press, and then only while the question is on the screen. Keys are
 * pressed once: that they may have been pressed is committed first. Readings
 * then show whether the answer took effect.
 */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Approval, Decision } from "../../session/approval.ts";
import { isDialog, isOnlySeen } from "../../session/approval.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Attention } from "../attention/attention.ts";
import type { Adapters } from "../launch/adapters.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { targetOf } from "../ledger/target.ts";
import { prepareChoice, settleWhenClosed } from "./answer-dialog.ts";
import { arePartOf, showingOf } from "./visible-question.ts";
import { until } from "../ledger/until.ts";

/** The hook tells of a question a moment before it is drawn. */
const LOOKS = 20;
const LOOK_MS = 150;
/** What was approved may have to run before the agent tells; a question that is gone counts as well. */
const VERIFY_MS = 10_000;

export interface AnswerParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly adapters: Pick<Adapters, "agent" | "runtime">;
  readonly attention: Pick<Attention, "channel" | "look">;
  readonly hasScreenRules: (agent: string) => Promise<boolean>;
}

export async function giveAnswer(parts: AnswerParts, session: Session, approvalId: string): Promise<void> {
  const approval = session.conversation.approvals.find((open) => open.id === approvalId);
  if (approval === undefined || approval.answer === null) return;
  const { incarnation } = session.process;
  const { stage, decision } = approval.answer;
  const fail = async (error: unknown): Promise<void> => {
    const code = error instanceof ReeveError ? error.code : "answer-failed";
    const evidence = { source: "supervisor", detail: messageOf(error), at: parts.clock.now() } as const;
    const reason = { code, text: messageOf(error), evidence };
    await parts.ledger.apply(session.id, { type: "answer-failed", incarnation, approvalId, reason });
  };
  let give: Give = async () => undefined;
  if (stage === "wanted") {
    try {
      give = await prepare(parts, session, approval, decision);
    } catch (error) {
      return fail(error);
    }
    // Not told as a failure: whoever does this next finds in the record whether it was committed.
    await parts.ledger.apply(session.id, { type: "answer-given", incarnation, approvalId });
    failpoint("answer.given");
  }
  try {
    await give();
    await verify(parts, session, approval);
  } catch (error) {
    await fail(error);
  }
}

async function verify(parts: AnswerParts, session: Session, approval: Approval): Promise<void> {
  const isGone = (): boolean => !isAsked(parts, session, approval.id);
  // Whoever ends the session meanwhile does not wait for this.
  const watching = new AbortController();
  const watched = settleBySight(parts, session, approval, watching.signal);
  try {
    if (await until(parts, () => isGone() || isBeingStopped(parts, session), VERIFY_MS)) return;
  } finally {
    watching.abort();
    await watched;
  }
  throw approval.answer?.stage === "given" ? unknown() : unverified(session);
}

/** What only the screen tells. */
async function settleBySight(
  parts: AnswerParts,
  session: Session,
  approval: Approval,
  signal: AbortSignal,
): Promise<void> {
  if (isDialog(approval)) await settleWhenClosed(parts, session, approval, signal);
  else if (hasRivals(parts, session, approval)) await settleWhenGone(parts, session, approval, signal);
}

/** Nothing is pressed or told before it is committed that it may have been. */
type Give = () => Promise<unknown>;

async function prepare(parts: AnswerParts, session: Session, approval: Approval, decision: Decision): Promise<Give> {
  if (isDialog(approval)) return prepareChoice(parts, session, approval, decision);
  const channel = parts.attention.channel(session.id);
  // A question from before what the channel knows, or one that was only seen, is answered as a person would.
  const isKnownThere = channel?.lacks() === null && !isOnlySeen(approval);
  if (channel !== null && session.watch.socket !== null && isKnownThere)
    return () => channel.answer(approval.id, decision);
  const keys = parts.adapters.agent(session.identity.agent).encodeAnswer(approval, decision);
  if (keys === null) throw notHere(session);
  await requireOnScreen(parts, session, approval);
  return () => parts.adapters.runtime(session.identity.runtime).send(targetOf(session), keys);
}

/** Twice in a row: a question is drawn before it listens. An agent without screen rules is taken at its word. */
async function requireOnScreen(parts: AnswerParts, session: Session, approval: Approval): Promise<void> {
  if (!(await parts.hasScreenRules(session.identity.agent))) {
    if (session.conversation.approvals[0]?.id !== approval.id) throw notHere(session);
    return;
  }
  let before: Seen = { is: "nothing" };
  for (let look = 0; look < LOOKS; look++) {
    const now = await see(parts, session, approval);
    if (now.is === "it" && before.is === "it") return;
    before = now;
    await parts.clock.sleep(LOOK_MS);
  }
  throw before.is === "another" ? anotherOnScreen(session, before.which) : notOnScreen(session);
}

/** `another`: a question is there, and it is not this one, or not for certain; `which` where that is known. */
type Seen = { readonly is: "it" | "nothing" } | { readonly is: "another"; readonly which: Approval | null };

async function see(parts: AnswerParts, { id }: Session, approval: Approval): Promise<Seen> {
  const session = parts.store.registry.get(id);
  const reading = session === undefined ? null : await parts.attention.look(session);
  if (session === undefined || reading?.activity !== "awaiting-approval") return { is: "nothing" };
  const dialog = reading.dialog ?? "";
  const { approvals } = session.conversation;
  const words = (open: Approval): readonly string[] => wordsOf(parts, session, open);
  const showings = new Map(approvals.map((open) => [open.id, showingOf(words(open), dialog)]));
  const found = approvals.filter(({ id: one }) => showings.get(one) !== "no");
  // What is found only because a longer one is there is not on the screen.
  const shown = found.filter((one) => !found.some((other) => arePartOf(words(one), words(other))));
  const others = shown.filter((open) => open.id !== approval.id);
  const another: Seen = { is: "another", which: others.length === 1 ? (others[0] ?? null) : null };
  // Nothing tells them apart that the screen would show: then only the one that was asked first can be on it.
  const isFirst = approvals[0]?.id === approval.id;
  if (words(approval).length === 0) return isFirst && others.length === 0 ? { is: "it" } : another;
  if (others.length === shown.length) return another;
  const isWhole = showings.get(approval.id) === "whole";
  const rivals = others.filter(({ id: one }) => !(isWhole && showings.get(one) === "cut"));
  const isSame = rivals.every((open) => JSON.stringify(words(open)) === JSON.stringify(words(approval)));
  return rivals.length === 0 || (isSame && isFirst) ? { is: "it" } : another;
}

/** Of a question that was only seen on the screen, the words that were seen. */
function wordsOf(parts: AnswerParts, session: Session, approval: Approval): readonly string[] {
  return isOnlySeen(approval) ? [] : parts.adapters.agent(session.identity.agent).shownOf(approval);
}

/**
 * Where several are open, the next question on the screen tells that this one
 * was answered: its tool may run for long before anything else does.
 */
async function settleWhenGone(
  parts: AnswerParts,
  session: Session,
  approval: Approval,
  signal: AbortSignal,
): Promise<void> {
  let before: Seen = { is: "it" };
  while (!signal.aborted) {
    const now = await see(parts, session, approval).catch((): Seen => ({ is: "nothing" }));
    if (now.is === "another" && before.is === "another") {
      const settled = { id: approval.id, decision: null };
      const reading: Reading = { source: "screen", detail: "another question is on its screen", approval: { settled } };
      await parts.ledger.apply(session.id, { type: "read", incarnation: session.process.incarnation, reading });
      return;
    }
    before = now;
    await parts.clock.sleep(LOOK_MS * 2, signal).catch(() => undefined); // told that it is over
  }
}

function isAsked(parts: AnswerParts, { id, process: { incarnation } }: Session, approvalId: string): boolean {
  const session = parts.store.registry.get(id);
  return (
    session !== undefined &&
    session.process.incarnation === incarnation &&
    session.conversation.approvals.some((approval) => approval.id === approvalId)
  );
}

/** Answered by keys, and not the only question. */
function hasRivals(parts: AnswerParts, { id, watch }: Session, approval: Approval): boolean {
  const isKeyed = watch.socket === null || parts.attention.channel(id) === null || isOnlySeen(approval);
  return isKeyed && (parts.store.registry.get(id)?.conversation.approvals.length ?? 0) > 1;
}

function isBeingStopped(parts: AnswerParts, { id }: Session): boolean {
  const session = parts.store.registry.get(id);
  return session !== undefined && session.wish.stop !== null;
}

function notHere({ identity: { name } }: Session): ReeveError {
  return new ReeveError({
    code: "approval-not-answerable",
    kind: "conflict",
    message: `This question can only be answered in the session itself: reeve attach ${name}.`,
  });
}

function notOnScreen({ identity: { name } }: Session): ReeveError {
  return new ReeveError({
    code: "approval-not-on-screen",
    kind: "conflict",
    message: `The question is not on the screen of ${name}, so no key was pressed; look with: reeve data ${name} --source screen.`,
  });
}

function anotherOnScreen({ identity: { name } }: Session, shown: Approval | null): ReeveError {
  const which =
    shown === null ? `See what it asks with: reeve approvals ${name}.` : `It is ${shown.id} (${shown.title}).`;
  return new ReeveError({
    code: "another-approval-on-screen",
    kind: "conflict",
    message: `Another question is on the screen of ${name}, so no key was pressed. ${which} Answer that one first.`,
  });
}

function unverified({ identity: { name } }: Session): ReeveError {
  return new ReeveError({
    code: "answer-unverified",
    kind: "conflict",
    message: `The answer was given, but the agent still asks. Look at it with: reeve attach ${name}.`,
  });
}

/** The daemon that answered died over it: a second key might answer the next question. */
function unknown(): ReeveError {
  return new ReeveError({
    code: "answer-unknown",
    kind: "conflict",
    message: "Reeve was restarted while it answered, and the agent still asks. Answer again.",
  });
}
