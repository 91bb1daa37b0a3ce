/**
 * Types one message. If the agent's composer can be read, Reeve types only when
 * the composer is empty, presses Enter only when the text is in it, and presses
 * Enter again only while the text is still there. Delivered means that a turn
 * began with this text (receipts.ts), if the agent reports turns.
 */
import { withoutTerminalAnswer } from "../../agent/composer.ts";
import type { Agent } from "../../agent/contract.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import { isBackgroundOnly } from "../../session/background.ts";
import type { InputStep } from "../../session/input.ts";
import { isOwnCommand, type Message } from "../../session/message.ts";
import { takesMessages } from "../../session/pending-effect.ts";
import { promptPrint } from "../../session/prompt-print.ts";
import type { Session } from "../../session/session.ts";
import {
  type ComposerParts,
  type ComposerWatch,
  draftOf,
  ownTexts,
  typedText,
  watchComposer,
} from "./composer-watch.ts";
import type { MessageOutcomes } from "./message-outcome.ts";
import { type Paste, problemWithPaste } from "./pasted-text.ts";
import type { Receipts } from "../ledger/receipts.ts";
import { targetOf } from "../ledger/target.ts";
import { until } from "../ledger/until.ts";

/** An agent that took a prompt says so within a second; a busy machine may need more. */
export const CONFIRM_MS = 2_500;
/** A long paste takes its time: gemini 0.61.0 needed 80 s for 150 KB. */
const CONFIRM_MS_PER_BYTE = 0.25;
/** Enter is pressed again so often, while the text still stands there. */
const ENTERS = 3;
/** For what is only waited for: a machine that is too busy draws and tells late, and that is no reason for doubt. */
const DRAWN_MS = 15_000;
const TOLD_MS = 15_000;

export interface TypedMessageParts extends ComposerParts {
  readonly outcomes: MessageOutcomes;
  readonly receipts: Receipts;
}

/** Why nothing was typed yet; null when the message has its outcome. */
export async function typeMessage(
  parts: TypedMessageParts,
  session: Session,
  message: Message,
): Promise<string | null> {
  const agent = parts.adapters.agent(session.identity.agent);
  const runtime = parts.adapters.runtime(session.identity.runtime);
  const watch = await watchComposer(parts, session);
  const found = watch === null ? { before: "" } : await prepare(parts, session, watch);
  if ("obstacle" in found) return found.obstacle;

  const whole = `${found.before}${typedText(agent, message)}`;
  await parts.outcomes.lease(message);
  parts.receipts.expect(
    session.id,
    expectation(session, message, printOf(agent, whole), writtenSentence(message.text)),
  );
  const typing: Typing = { session, message, agent, watch, whole, patienceMs: patienceFor(message) };
  const send = (steps: readonly InputStep[]): Promise<void> => runtime.send(targetOf(session), steps);
  try {
    const problem = await carryOut(parts, typing, send).catch((error: unknown) => error);
    if (typeof problem === "string") await parts.outcomes.unknown(message, "not-in-input", problem);
    else if (problem !== null) await parts.outcomes.failed(message, problem);
    else await confirm(parts, typing, () => send([{ type: "key", key: "Enter" }]));
  } finally {
    parts.receipts.forget(session.id);
  }
  return null;
}

/** Why Enter was not pressed; null when it was, or was not to be. */
async function carryOut(
  parts: TypedMessageParts,
  typing: Typing,
  send: (steps: readonly InputStep[]) => Promise<void>,
): Promise<string | null> {
  const { first, pauseMs, enter } = splitBeforeEnter(typing.agent.encode(typing.message), typing.watch !== null);
  await send(first);
  if (enter.length > 0) {
    failpoint("send.pasted");
    try {
      const problem = await problemBeforeEnter(parts, typing, { again: () => send(first), pauseMs });
      if (problem !== null) return problem;
      await send(enter);
    } catch (error) {
      throw afterPaste(error);
    }
  }
  failpoint("send.after-effect");
  return null;
}

/** Its text stands in the composer: whoever cannot be asked any more, it is not as if nothing had been typed. */
function afterPaste(error: unknown): ReeveError {
  const message = `its text was pasted, and then ${messageOf(error)}`;
  return new ReeveError({ code: "delivery-unknown", kind: "unavailable", message });
}

interface Typing {
  readonly session: Session;
  readonly message: Message;
  readonly agent: Agent;
  readonly watch: ComposerWatch | null;
  /** All that stands in the composer once it is typed. */
  readonly whole: string;
  readonly patienceMs: number;
}

/** What a turn that began with this message is known by. */
export function expectation(session: Session, message: Message, print: string, done: string | null) {
  return {
    messageId: message.id,
    incarnation: session.process.incarnation,
    print,
    turnsBefore: session.conversation.turns,
    isSteered: session.conversation.turnOpen && !isBackgroundOnly(session),
    done,
  };
}

export function printOf(agent: Agent, typed: string): string {
  return promptPrint(agent.promptLimit === undefined ? typed : typed.slice(0, agent.promptLimit));
}

export function patienceFor({ text }: Message): number {
  return CONFIRM_MS + Buffer.byteLength(text) * CONFIRM_MS_PER_BYTE;
}

/** Its composer is there and empty, or holds only what was sent without Enter; what is ours is cleared. */
async function prepare(
  parts: ComposerParts,
  session: Session,
  watch: ComposerWatch,
): Promise<{ readonly obstacle: string } | { readonly before: string }> {
  const look = `run \`reeve attach ${session.identity.name}\``;
  const standing = await watch.look();
  switch (standing.state) {
    case "empty":
      return { before: "" };
    case "absent":
      return { obstacle: `its screen does not show an empty input; ${look} to see what it shows` };
    case "text": {
      const draft = draftOf(parts, session);
      if (draft !== "" && watch.shows(draft, standing)) return { before: draft };
      const own = ownTexts(parts, session);
      const isOurs = withoutTerminalAnswer(standing.text).some(
        (rest) => rest === "" || own.some((text) => watch.shows(text, { state: "text", text: rest })),
      );
      if (!isOurs) return { obstacle: `there is unsent text in its input; ${look} to send or delete it` };
      if (await watch.clear()) return { before: "" };
      return {
        obstacle: `its input still contains an earlier message, which could not be removed; ${look} to delete it`,
      };
    }
  }
}

/** Agents that take Enter for a part of the paste unless it comes later have a pause before it: there we look. */
function splitBeforeEnter(
  steps: readonly InputStep[],
  hasComposer: boolean,
): { readonly first: readonly InputStep[]; readonly pauseMs: number; readonly enter: readonly InputStep[] } {
  const at = steps.findLastIndex((step) => step.type === "pause");
  const pause = steps[at];
  if (!hasComposer || pause?.type !== "pause") return { first: steps, pauseMs: 0, enter: [] };
  return { first: steps.slice(0, at), pauseMs: pause.ms, enter: steps.slice(at + 1) };
}

async function problemBeforeEnter(
  parts: TypedMessageParts,
  { session, message, agent, watch, whole, patienceMs }: Typing,
  paste: Pick<Paste, "again" | "pauseMs">,
): Promise<string | null> {
  if (watch === null) return null;
  return await problemWithPaste(parts.clock, watch, {
    ...paste,
    whole,
    twice: whole + typedText(agent, message),
    drawnMs: patienceMs + DRAWN_MS,
    settledMs: CONFIRM_MS,
    clearUnseen: () => watch.clearUnseen(whole + typedText(agent, message)),
    isUndisturbed: () => isUnchanged(parts, session) && parts.receipts.takenInstead(session.id) === null,
  });
}

async function confirm(parts: TypedMessageParts, typing: Typing, pressEnter: () => Promise<void>): Promise<void> {
  const { session, message, agent, watch, whole, patienceMs } = typing;
  const { outcomes } = parts;
  const written = writtenSentence(message.text);
  const isReported = isReportedBy(agent, session, message);
  if (!isReported && (watch === null || !message.submit)) return outcomes.delivered(message, written);
  let isLeft = false;
  for (let enter = 0; enter <= ENTERS; enter++) {
    if (!isReported && (await leaves(parts, typing)))
      return outcomes.delivered(message, `${written}; it left its input`);
    await until(parts, () => isSettled(parts, message) || !isThere(parts, session), patienceMs);
    if (isSettled(parts, message)) return;
    if (!isThere(parts, session)) break;
    isLeft = watch !== null && !watch.shows(whole, await watch.look());
    // Only onto our own text, or where nobody can see what it is pressed on and nothing else has happened.
    const mayPress = watch === null ? isUnchanged(parts, session) : !isLeft;
    if (mayPress && enter < ENTERS) await pressEnter().catch(() => undefined);
  }
  if (isLeft) await until(parts, () => isSettled(parts, message) || !isThere(parts, session), TOLD_MS);
  if (isSettled(parts, message)) return;
  if (watch !== null && !isLeft && isThere(parts, session) && (await watch.clear()))
    return outcomes.refused(
      message,
      "not-taken",
      "Enter was pressed, but the text stayed in its input, so Reeve removed it again; look at its screen.",
    );
  const instead = parts.receipts.takenInstead(session.id);
  const why =
    instead === null
      ? "it did not say that it took the message; look at its screen."
      : `another text was taken instead: ${JSON.stringify(shortened(instead))}; look at its screen.`;
  await outcomes.unknown(message, instead === null ? "unconfirmed" : "other-text-taken", `${written}, but ${why}`);
}

const LONGEST_QUOTE = 200;

function shortened(text: string): string {
  return text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`;
}

/** It no longer stands in the composer; a program that was told to end took it along. */
async function leaves(parts: TypedMessageParts, { session, message, watch, whole }: Typing): Promise<boolean> {
  if (watch === null) return true;
  const hasEnded = (): boolean => isOwnCommand(message) && !isThere(parts, session);
  const standing = await watch.until((now) => !watch.shows(whole, now) || hasEnded(), CONFIRM_MS).catch(() => null); // no longer there to be looked at
  return hasEnded() || (standing !== null && !watch.shows(whole, standing));
}

/** Only a prompt to an idle agent begins a turn; a command of the agent's own need not. */
function isReportedBy(agent: Agent, session: Session, message: Message): boolean {
  const isIdle =
    (!session.conversation.turnOpen && session.conversation.activity.status === "idle") || isBackgroundOnly(session);
  return agent.capabilities.confirms && message.submit && isIdle && !isOwnCommand(message);
}

function isSettled(parts: TypedMessageParts, { id }: Message): boolean {
  const state = parts.store.mailbox.get(id)?.state;
  return state !== "leased" && state !== "admitted";
}

function isThere(parts: TypedMessageParts, before: Session): boolean {
  const now = parts.store.registry.get(before.id);
  return now !== undefined && now.process.incarnation === before.process.incarnation && takesMessages(now);
}

function isUnchanged(parts: TypedMessageParts, before: Session): boolean {
  return parts.store.registry.get(before.id)?.conversation.activity.status === before.conversation.activity.status;
}

function writtenSentence(text: string): string {
  const bytes = Buffer.byteLength(text);
  return bytes === 1 ? "1 byte was written to its terminal" : `${bytes} bytes were written to its terminal`;
}
