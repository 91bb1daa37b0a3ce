/**
 * Gives admitted messages to sessions: in order, each at most once. The lease
 * is committed before the first key is pressed (or the first byte sent), so
 * after a crash in between the outcome is unknown, and Reeve does not type it
 * again. Delivered means that the agent said it took the message, if it can say
 * so.
 */
import { failpoint } from "../../platform/failpoint.ts";
import { agoOfKeyMs } from "../../runtime/last-key.ts";
import type { Message } from "../../session/message.ts";
import {
  type Circumstances,
  HELD_MS,
  isAsking,
  isOvertaken,
  nextStep,
  type Obstacle,
} from "../../session/next-step.ts";
import type { Session } from "../../session/session.ts";
import type { ComposerParts } from "./composer-watch.ts";
import { isConcealed } from "../launch/concealed-text.ts";
import type { Task } from "./effect-runner.ts";
import { interruptOnce } from "./interruption.ts";
import { expectLeft, recoverLease } from "./lease-recovery.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { createMessageOutcomes } from "./message-outcome.ts";
import type { Receipts } from "../ledger/receipts.ts";
import { targetOf } from "../ledger/target.ts";
import { CONFIRM_MS, expectation, printOf, type TypedMessageParts, typeMessage } from "./typed-message.ts";
import type { Attention } from "../attention/attention.ts";
import { until } from "../ledger/until.ts";

export interface DeliveryParts extends ComposerParts {
  readonly ledger: Ledger;
  readonly receipts: Receipts;
  readonly attention: Pick<Attention, "channel" | "describeChannel" | "look" | "isCaughtUp" | "secrets" | "standing">;
  readonly typingPauseMs: number;
  /** Why nothing may be begun in it now, in half a sentence; null where it may. */
  readonly parkedWhy: (session: Session) => string | null;
  /** Look at the session again, later. */
  readonly pokeLater: (sessionId: string, ms: number) => void;
}

export interface Delivery {
  /** Before anything is read: a message that the last daemon was typing may turn out to have been taken. */
  resume(): Promise<void>;
  nextTask(session: Session): Task | null;
  /** Why the oldest waiting message of a session is not typed; null when nothing is in its way. */
  obstacle(session: Session): Obstacle | null;
  /** It was removed. */
  forget(sessionId: string): void;
}

const UNSEEN = "a question is on its screen";

export function createDelivery(parts: DeliveryParts): Delivery {
  const outcomes = createMessageOutcomes(parts);
  const typing: TypedMessageParts = { ...parts, outcomes };
  /** What stood in the way of a message at the last look. */
  const held = new Map<string, Obstacle & { readonly until: number }>();
  /** What was tried and typed by this daemon, per session: pauses after it, and no more. */
  const lastTyped = new Map<string, NonNullable<Circumstances["lastTyped"]>>();
  const interrupted = new Map<string, NonNullable<Circumstances["interrupted"]>>();

  function circumstances(session: Session): Circumstances {
    const agent = parts.adapters.agent(session.identity.agent);
    return {
      now: parts.clock.moment(),
      monotonic: parts.clock.monotonic(),
      accepts: (status) => agent.accepts(status),
      canSteer: agent.capabilities.steer,
      isCaughtUp: parts.attention.isCaughtUp(session),
      channel: {
        isOpen: parts.attention.channel(session.id) !== null,
        text: parts.attention.describeChannel(session.id) ?? "not open",
      },
      isConcealed,
      lastTyped: lastTyped.get(session.id) ?? null,
      interrupted: interrupted.get(session.id) ?? null,
      parked: parts.parkedWhy(session),
      held: held.get(session.id) ?? null,
    };
  }

  async function interrupt(session: Session, message: Message): Promise<void> {
    interrupted.set(session.id, { messageId: message.id, at: parts.clock.monotonic() });
    if (await asksUnseen(session)) return hold(session, { messageId: message.id, why: UNSEEN });
    await interruptOnce(parts, session, CONFIRM_MS);
  }

  async function overChannel(session: Session, message: Message): Promise<void> {
    const channel = parts.attention.channel(session.id);
    if (channel === null) return;
    const print = printOf(parts.adapters.agent(session.identity.agent), message.text);
    // Outside: what could not be leased was not sent.
    await outcomes.lease(message);
    parts.receipts.expect(session.id, expectation(session, message, print, null));
    try {
      const detail = await channel.send(message.text, session.conversation.turnOpen ? "steer" : "turn");
      failpoint("send.after-effect");
      if (!session.conversation.turnOpen) await until(parts, () => hasBegun(session), CONFIRM_MS);
      await outcomes.delivered(message, detail);
    } catch (error) {
      await outcomes.failed(message, error);
    } finally {
      parts.receipts.forget(session.id);
    }
  }

  function hasBegun(before: Session): boolean {
    const now = parts.store.registry.get(before.id);
    return (
      now !== undefined &&
      now.process.incarnation === before.process.incarnation &&
      now.conversation.turns > before.conversation.turns
    );
  }

  async function typed(session: Session, message: Message): Promise<void> {
    const why = (await isSomeoneTyping(session))
      ? "somebody is typing in its terminal"
      : (await asksUnseen(session))
        ? UNSEEN
        : await typeMessage(typing, session, message);
    if (why !== null) return hold(session, { messageId: message.id, why });
    const now = parts.store.registry.get(session.id);
    if (
      parts.adapters.agent(session.identity.agent).capabilities.turns &&
      now?.conversation.turns === session.conversation.turns
    )
      lastTyped.set(session.id, { at: parts.clock.monotonic(), activityAt: session.conversation.activity.evidence.at });
  }

  function hold(session: Session, obstacle: Obstacle): void {
    held.set(session.id, { ...obstacle, until: parts.clock.monotonic() + HELD_MS });
  }

  async function isSomeoneTyping(session: Session): Promise<boolean> {
    const at = await parts.adapters
      .runtime(session.identity.runtime)
      .lastTypedAt(targetOf(session))
      .catch(() => null);
    const agoMs = agoOfKeyMs(at, parts.clock.now());
    return agoMs !== null && agoMs < parts.typingPauseMs;
  }

  /** A question that no source has told of yet: what is typed now, or the key that interrupts, would answer it. */
  async function asksUnseen(session: Session): Promise<boolean> {
    if (isAsking(session)) return false;
    const reading = await parts.attention.look(session).catch(() => null);
    return reading?.activity === "awaiting-input" || reading?.activity === "awaiting-approval";
  }

  async function refuse(session: Session, message: Message): Promise<void> {
    const { name } = session.identity;
    const isOver = session.wish.desired === "stopped";
    if (!isOver && isOvertaken(session, message, parts.store.mailbox.open(session.id))) {
      const text = `Session ${name} went on with something else before Reeve could ask it to continue.`;
      return await outcomes.refused(message, "resume-withdrawn", text);
    }
    await outcomes.refused(message, "session-ended", `Session ${name} ended before the message could be delivered.`);
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
    forget(sessionId) {
      for (const known of [held, lastTyped, interrupted]) known.delete(sessionId);
    },
    obstacle(session) {
      const hold = held.get(session.id);
      const isOpen = hold !== undefined && parts.store.mailbox.get(hold.messageId)?.state === "admitted";
      return isOpen ? { messageId: hold.messageId, why: hold.why } : null;
    },
    nextTask(session) {
      const open = parts.store.mailbox.open(session.id);
      if (open.length === 0) return null;
      const step = nextStep(session, open, circumstances(session));
      if (step.do === "wait") return null;
      if (step.do === "look-again") {
        if (step.obstacle !== null) hold(session, step.obstacle);
        parts.pokeLater(session.id, step.at - parts.clock.monotonic());
        return null;
      }
      const { message } = step;
      const key = `send ${message.id}`;
      switch (step.do) {
        case "recover":
          return {
            key: `recover ${message.id}`,
            kind: "recover",
            perform: () => recoverLease(typing, session, message),
          };
        case "refuse":
          return { key, kind: "refuse", perform: () => refuse(session, message) };
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
