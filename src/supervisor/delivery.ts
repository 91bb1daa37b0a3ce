/**
 * Types admitted messages into sessions: in order, each at most once. The
 * lease is committed before the first key is pressed, so a crash in between
 * leaves an outcome that is honestly unknown, never a second attempt.
 */
import type { Agent } from "../agent/contract.ts";
import type { Clock } from "../platform/clock.ts";
import { failpoint } from "../platform/failpoint.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { Runtime } from "../runtime/contract.ts";
import type { Message } from "../session/message.ts";
import { mayTakeMessagesLater, takesMessages } from "../session/pending-effect.ts";
import type { Evidence, Reason, Session } from "../session/session.ts";
import type { Store } from "../store/contract.ts";
import type { Task } from "./effect-runner.ts";
import { targetOf } from "./effects.ts";
import type { Ledger } from "./ledger.ts";

/** After a message an agent needs a moment to say that it works; a second one typed at once would race it. */
const SETTLING_MS = 2_000;

/** Nothing was typed and it may work later. */
const RETRIED = new Set(["runtime-unreachable", "message-not-written"]);

export interface DeliveryParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly runtime: (kind: string) => Runtime;
  readonly agent: (name: string) => Agent;
  /** Look at the session again, later. */
  readonly pokeLater: (sessionId: string, ms: number) => void;
}

export interface Delivery {
  nextTask(session: Session): Task | null;
}

export function createDelivery(parts: DeliveryParts): Delivery {
  /** When and in which activity (by its instant) the last message was typed, per session. */
  const lastTyped = new Map<string, { readonly at: number; readonly activityAt: number }>();

  function isSettling(session: Session): boolean {
    const last = lastTyped.get(session.id);
    if (last === undefined || last.activityAt !== session.activity.evidence.at) return false;
    const left = last.at + SETTLING_MS - parts.clock.monotonic();
    if (left > 0) parts.pokeLater(session.id, left);
    return left > 0;
  }

  async function deliver(session: Session, message: Message): Promise<void> {
    const agent = parts.agent(session.agent);
    await parts.ledger.settle(message, "leased", null, null);
    failpoint("send.leased");
    try {
      await parts
        .runtime(session.runtime)
        .send(targetOf(session), agent.encode({ text: message.text, submit: message.submit }));
    } catch (error) {
      return giveUp(message, error);
    }
    failpoint("send.after-effect");
    if (agent.capabilities.turns)
      lastTyped.set(session.id, { at: parts.clock.monotonic(), activityAt: session.activity.evidence.at });
    const bytes = Buffer.byteLength(message.text);
    const detail = bytes === 1 ? "1 byte was written to its terminal" : `${bytes} bytes were written to its terminal`;
    await parts.ledger.settle(
      message,
      "delivered",
      { type: "message-delivered", messageId: message.id, evidence: evidence(detail) },
      detail,
    );
  }

  /** Refused or tried again only when the runtime said that it typed nothing. */
  async function giveUp(message: Message, error: unknown): Promise<void> {
    if (error instanceof ReeveError && RETRIED.has(error.code)) {
      await parts.ledger.settle(message, "admitted", null, null);
      throw error;
    }
    const isRefused = error instanceof ReeveError && (error.kind === "usage" || error.kind === "conflict");
    const code = error instanceof ReeveError ? error.code : "delivery-failed";
    if (isRefused) return refuse(message, code, error.message);
    const reason = because(code, `It may or may not have been typed: ${messageOf(error)}.`);
    await parts.ledger.settle(
      message,
      "unknown",
      { type: "message-unknown", messageId: message.id, reason },
      reason.text,
    );
  }

  async function refuse(message: Message, code: string, text: string): Promise<void> {
    await parts.ledger.settle(
      message,
      "refused",
      { type: "message-refused", messageId: message.id, reason: because(code, text) },
      text,
    );
  }

  function evidence(detail: string): Evidence {
    return { source: "runtime", detail, at: parts.clock.now() };
  }

  function because(code: string, text: string): Reason {
    return { code, text, evidence: evidence(text) };
  }

  return {
    nextTask(session) {
      const message = parts.store.mailbox.open(session.id).find((candidate) => candidate.state === "admitted");
      if (message === undefined) return null;
      const key = `send ${message.id}`;
      if (!mayTakeMessagesLater(session)) {
        return {
          key,
          kind: "refuse",
          perform: () =>
            refuse(message, "session-ended", `Session ${session.name} ended before the message could be delivered.`),
        };
      }
      if (
        !takesMessages(session) ||
        !parts.agent(session.agent).accepts(session.activity.status) ||
        isSettling(session)
      )
        return null;
      return { key, kind: "send", perform: () => deliver(session, message) };
    },
  };
}
