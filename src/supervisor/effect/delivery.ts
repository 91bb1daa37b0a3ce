/**
 * Gives admitted messages to sessions: in order, each at most once. The lease
 * is committed before the first key is pressed (or the first byte sent), so a
 * crash in between leaves an outcome that is honestly unknown, never a second
 * attempt. Delivered means that the agent said it took it, wherever it can.
 */
import { failpoint } from "../../platform/failpoint.ts";
import { isBackgroundOnly } from "../../session/background.ts";
import type { Message } from "../../session/message.ts";
import { isPromptAhead, mayTakeMessagesLater, takesMessages } from "../../session/pending-effect.ts";
import type { Session } from "../../session/session.ts";
import type { ComposerParts } from "./composer-watch.ts";
import { isConcealed } from "../launch/concealed-text.ts";
import type { Task } from "./effect-runner.ts";
import { expectLeft, recoverLease } from "./lease-recovery.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { createMessageOutcomes } from "./message-outcome.ts";
import type { Receipts } from "../ledger/receipts.ts";
import { targetOf } from "../ledger/target.ts";
import {
  CONFIRM_MS,
  expectation,
  isOwnCommand,
  printOf,
  type TypedMessageParts,
  typeMessage,
} from "./typed-message.ts";
import type { Attention } from "../attention/attention.ts";
import { until } from "../ledger/until.ts";

/** After a message that nothing confirms an agent needs a moment; a second one typed at once would race it. */
const SETTLING_MS = 2_000;
/** An interrupt that had no effect for so long is tried again. */
const INTERRUPT_AGAIN_MS = 5_000;
/** A channel that is not open opens within a moment, as a rule. */
const CHANNEL_LOOK_MS = 250;
/** Whether what was in the way is gone is looked at again so often. */
const HELD_MS = 1_000;

export interface DeliveryParts extends ComposerParts {
  readonly ledger: Ledger;
  readonly receipts: Receipts;
  readonly attention: Pick<Attention, "channel" | "describeChannel" | "look" | "isCaughtUp" | "secrets" | "standing">;
  readonly typingPauseMs: number;
  /** Look at the session again, later. */
  readonly pokeLater: (sessionId: string, ms: number) => void;
}

export interface Delivery {
  /** Before anything is read: a message that the last daemon was typing may turn out to have been taken. */
  resume(): Promise<void>;
  nextTask(session: Session): Task | null;
  /** Why the oldest waiting message of a session is not typed; null when nothing is in its way. */
  obstacle(session: Session): { readonly messageId: string; readonly why: string } | null;
}

type Step = "wait" | "interrupt" | "type" | "channel";

export function createDelivery(parts: DeliveryParts): Delivery {
  const outcomes = createMessageOutcomes(parts);
  const typing: TypedMessageParts = { ...parts, outcomes };
  /** What stood in the way of a message at the last look. */
  const held = new Map<string, { readonly messageId: string; readonly why: string; readonly until: number }>();
  /** When and in which activity (by its instant) the last unconfirmed message was typed, per session. */
  const lastTyped = new Map<string, { readonly at: number; readonly activityAt: number }>();
  /** Which turn a message is to interrupt, and when that was last tried; of the oldest waiting message per session. */
  const interrupts = new Map<string, { readonly messageId: string; readonly turn: number; triedAt: number | null }>();

  /** Messages that waited already when the session began to ask: none of them is an answer, and an answer overtakes them. */
  const waitedBefore = new Map<string, { readonly question: string; readonly ids: ReadonlySet<string> }>();

  function answerAmong(session: Session, waiting: readonly Message[]): Message | undefined {
    const question = `${session.incarnation} ${session.turns} ${session.activity.evidence.at}`;
    const known = waitedBefore.get(session.id);
    const ids = known?.question === question ? known.ids : new Set(waiting.map((message) => message.id));
    waitedBefore.set(session.id, { question, ids });
    return waiting.find((message) => !ids.has(message.id));
  }

  function nextStep(session: Session, message: Message): Step {
    const agent = parts.adapters.agent(session.agent);
    const { status } = session.activity;
    const asks = isAsking(session);
    if (isPromptAhead(session, parts.clock.now())) return later(session, CHANNEL_LOOK_MS);
    if (isConcealed(message.text)) {
      hold(session, message, "it repeats a secret of the session, whose environment cannot be read now");
      return later(session, HELD_MS);
    }
    // What works in the background leaves the composer free.
    const isFree = isBackgroundOnly(session);
    const isBusy = session.turnOpen && !asks && !isFree;
    if (isBusy && message.how === "interrupt") return mayInterrupt(session, message) ? "interrupt" : "wait";
    const isSteered = isBusy && message.how === "steer" && agent.capabilities.steer;
    if (!isSteered && (isBusy || !agent.accepts(isFree ? "idle" : status) || isSettling(session))) return "wait";
    const speaksChannel = session.watch.socket !== null && message.submit && !asks && !isOwnCommand(message);
    if (speaksChannel) {
      if (parts.attention.channel(session.id) !== null) return "channel";
      hold(session, message, `its own protocol is ${parts.attention.describeChannel(session.id) ?? "not open"}`);
      return later(session, CHANNEL_LOOK_MS);
    }
    const before = held.get(session.id);
    const left = before?.messageId === message.id ? before.until - parts.clock.monotonic() : 0;
    return left > 0 ? later(session, left) : "type";
  }

  function later(session: Session, ms: number): "wait" {
    parts.pokeLater(session.id, ms);
    return "wait";
  }

  /**
   * The turn under way when the message was first seen, else the one that was
   * about to begin; at a start that is the turn the record knew, before what
   * happened since is read. Any other turn is not its business.
   */
  function intended(session: Session, message: Message): { readonly turn: number; triedAt: number | null } {
    const before = interrupts.get(session.id);
    if (before?.messageId === message.id) return before;
    const turn = session.turnOpen ? session.turns : session.turns + 1;
    const intent = { messageId: message.id, turn, triedAt: null };
    interrupts.set(session.id, intent);
    return intent;
  }

  function mayInterrupt(session: Session, message: Message): boolean {
    const { turn, triedAt } = intended(session, message);
    if (turn !== session.turns) return false;
    const left = triedAt === null ? 0 : triedAt + INTERRUPT_AGAIN_MS - parts.clock.monotonic();
    if (left > 0) parts.pokeLater(session.id, left);
    return left <= 0;
  }

  function isSettling(session: Session): boolean {
    const last = lastTyped.get(session.id);
    if (last === undefined || last.activityAt !== session.activity.evidence.at) return false;
    const left = last.at + SETTLING_MS - parts.clock.monotonic();
    if (left > 0) parts.pokeLater(session.id, left);
    return left > 0;
  }

  async function interrupt(session: Session, message: Message): Promise<void> {
    intended(session, message).triedAt = parts.clock.monotonic();
    const channel = parts.attention.channel(session.id);
    const keys = parts.adapters.agent(session.agent).interrupt;
    // A turn that its protocol cannot name is interrupted as a person would.
    if (channel !== null && channel.lacks() === null) await channel.interrupt();
    else if (keys !== null) await parts.adapters.runtime(session.runtime).send(targetOf(session), keys);
    await until(parts, () => !hasTurnOpen(session), CONFIRM_MS);
  }

  function hasTurnOpen({ id, turns }: Session): boolean {
    const session = parts.store.registry.get(id);
    return session !== undefined && session.turnOpen && session.turns === turns && session.exit === null;
  }

  async function overChannel(session: Session, message: Message): Promise<void> {
    const channel = parts.attention.channel(session.id);
    if (channel === null) return;
    const print = printOf(parts.adapters.agent(session.agent), message.text);
    parts.receipts.expect(session.id, expectation(session, message, print, null));
    try {
      await outcomes.lease(message);
      const detail = await channel.send(message.text, session.turnOpen ? "steer" : "turn");
      failpoint("send.after-effect");
      if (!session.turnOpen) await until(parts, () => hasBegun(session), CONFIRM_MS);
      await outcomes.delivered(message, detail);
    } catch (error) {
      await outcomes.failed(message, error);
    } finally {
      parts.receipts.forget(session.id);
    }
  }

  function hasBegun(before: Session): boolean {
    const now = parts.store.registry.get(before.id);
    return now !== undefined && now.incarnation === before.incarnation && now.turns > before.turns;
  }

  async function typed(session: Session, message: Message): Promise<void> {
    const why = (await isSomeoneTyping(session))
      ? "somebody is typing in its terminal"
      : (await asksUnseen(session))
        ? "a question is on its screen"
        : await typeMessage(typing, session, message);
    if (why !== null) return hold(session, message, why);
    const now = parts.store.registry.get(session.id);
    if (parts.adapters.agent(session.agent).capabilities.turns && now?.turns === session.turns)
      lastTyped.set(session.id, { at: parts.clock.monotonic(), activityAt: session.activity.evidence.at });
  }

  function hold(session: Session, message: Message, why: string): void {
    held.set(session.id, { messageId: message.id, why, until: parts.clock.monotonic() + HELD_MS });
  }

  async function isSomeoneTyping(session: Session): Promise<boolean> {
    const at = await parts.adapters
      .runtime(session.runtime)
      .lastTypedAt(targetOf(session))
      .catch(() => null);
    return at !== null && parts.clock.now() - at < parts.typingPauseMs;
  }

  /** A question that no source has told of yet: what is typed now would answer it. */
  async function asksUnseen(session: Session): Promise<boolean> {
    if (isAsking(session)) return false;
    const reading = await parts.attention.look(session).catch(() => null);
    return reading?.activity === "awaiting-input" || reading?.activity === "awaiting-approval";
  }

  /** While it is being typed this is not asked for; afterwards only a crash, of Reeve or of the attempt, leaves it. */
  function leftBehind(session: Session, message: Message): Task | null {
    const mayBeKnown = mayTakeMessagesLater(session);
    if (mayBeKnown && (!takesMessages(session) || !parts.attention.isCaughtUp(session))) return null;
    return { key: `recover ${message.id}`, kind: "recover", perform: () => recoverLease(typing, session, message) };
  }

  return {
    async resume() {
      const isLeft = (message: Message): boolean => message.state === "leased";
      const left = parts.store.registry.all().filter(({ id }) => parts.store.mailbox.open(id).some(isLeft));
      await Promise.all(
        left.map(async (session) => {
          // What was typed may hold one of its secrets, which is not in the database.
          await parts.attention.secrets.learn(session.id).catch(() => null);
          for (const message of parts.store.mailbox.open(session.id).filter(isLeft))
            expectLeft(typing, session, message);
        }),
      );
    },
    obstacle(session) {
      const hold = held.get(session.id);
      const isOpen = hold !== undefined && parts.store.mailbox.get(hold.messageId)?.state === "admitted";
      return isOpen ? { messageId: hold.messageId, why: hold.why } : null;
    },
    nextTask(session) {
      const open = parts.store.mailbox.open(session.id);
      const left = open.find((candidate) => candidate.state === "leased");
      if (left !== undefined) return leftBehind(session, left);
      const waiting = open.filter((candidate) => candidate.state === "admitted");
      const message = isAsking(session) ? answerAmong(session, waiting) : waiting[0];
      if (message === undefined) return null;
      const key = `send ${message.id}`;
      if (!mayTakeMessagesLater(session)) {
        return {
          key,
          kind: "refuse",
          perform: () =>
            outcomes.refused(
              message,
              "session-ended",
              `Session ${session.name} ended before the message could be delivered.`,
            ),
        };
      }
      if (message.how === "interrupt") intended(session, message);
      if (!takesMessages(session) || !parts.attention.isCaughtUp(session)) return null;
      switch (nextStep(session, message)) {
        case "wait":
          return null;
        case "interrupt":
          return { key: `interrupt ${message.id}`, kind: "interrupt", perform: () => interrupt(session, message) };
        case "channel":
          return { key, kind: "send", perform: () => overChannel(session, message) };
        case "type":
          return { key, kind: "send", perform: () => typed(session, message) };
      }
    },
  };
}

function isAsking({ activity: { status } }: Session): boolean {
  return status === "awaiting-approval" || status === "awaiting-input";
}
