/** Commits what becomes of a message: leased before the first key, then delivered, refused, unknown, or put back. */
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { Message } from "../../session/message.ts";
import type { Evidence, Reason } from "../../session/session.ts";
import type { Ledger } from "../ledger/ledger.ts";

/** Nothing was typed and it may work later. */
const RETRIED = new Set(["runtime-unreachable", "message-not-written"]);

export interface MessageOutcomes {
  lease(message: Message): Promise<void>;
  /** It was not taken, and nothing of it is left: it waits again. */
  putBack(message: Message): Promise<void>;
  delivered(message: Message, detail: string): Promise<void>;
  refused(message: Message, code: string, text: string): Promise<void>;
  unknown(message: Message, code: string, text: string): Promise<void>;
  /** Refused or tried again only when the runtime or the channel said that nothing was sent. */
  failed(message: Message, error: unknown): Promise<void>;
}

export function createMessageOutcomes(parts: { readonly ledger: Ledger; readonly clock: Clock }): MessageOutcomes {
  const { ledger } = parts;
  const evidence = (detail: string): Evidence => ({ source: "runtime", detail, at: parts.clock.now() });
  const because = (code: string, text: string): Reason => ({ code, text, evidence: evidence(text) });

  const outcomes: MessageOutcomes = {
    async lease(message) {
      await ledger.settle(message, "leased", null, null);
      failpoint("send.leased");
    },
    putBack: (message) => ledger.settle(message, "admitted", null, null),
    delivered: (message, detail) =>
      ledger.settle(
        message,
        "delivered",
        { type: "message-delivered", messageId: message.id, evidence: evidence(detail) },
        detail,
      ),
    refused: (message, code, text) =>
      ledger.settle(
        message,
        "refused",
        { type: "message-refused", messageId: message.id, reason: because(code, text) },
        text,
      ),
    unknown: (message, code, text) =>
      ledger.settle(
        message,
        "unknown",
        { type: "message-unknown", messageId: message.id, reason: because(code, text) },
        text,
      ),
    async failed(message, error) {
      const wasNotSent = error instanceof ReeveError && error.kind !== "usage" && error.details["sent"] === false;
      if (wasNotSent || (error instanceof ReeveError && RETRIED.has(error.code))) {
        await outcomes.putBack(message);
        throw error;
      }
      const isRefused = error instanceof ReeveError && (error.kind === "usage" || error.kind === "conflict");
      const code = error instanceof ReeveError ? error.code : "delivery-failed";
      if (isRefused) return outcomes.refused(message, code, error.message);
      await outcomes.unknown(message, code, `It may or may not have been typed: ${messageOf(error)}.`);
    },
  };
  return outcomes;
}
