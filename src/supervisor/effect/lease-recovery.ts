/**
 * Finds out what became of a message that was being typed when Reeve was
 * killed. If a turn began with its text, it was taken. If its text is in the
 * composer, it was not: the text is removed and the message waits again.
 * Otherwise the outcome is unknown.
 */
import type { Message } from "../../session/message.ts";
import { mayTakeMessagesLater } from "../../session/pending-effect.ts";
import type { Session } from "../../session/session.ts";
import { type ComposerWatch, typedText, watchComposer } from "./composer-watch.ts";
import { expectation, patienceFor, printOf, type TypedMessageParts } from "./typed-message.ts";
import { until } from "../ledger/until.ts";

const UNKNOWN = "Reeve stopped while it was being typed, so it may or may not have arrived";
/** Between two looks at the composer, while a reading may come at any time. */
const LOOK_MS = 250;

/** Before anything is read of the session that the last daemon did not read. */
export function expectLeft(parts: TypedMessageParts, session: Session, message: Message): void {
  const agent = parts.adapters.agent(session.identity.agent);
  const expected = expectation(session, message, printOf(agent, typedText(agent, message)), null);
  // The beginning of its turn may be in the record already, and the text of that turn still to be told.
  parts.receipts.expect(session.id, { ...expected, turnsBefore: session.conversation.turns - 1 });
}

export async function recoverLease(parts: TypedMessageParts, session: Session, message: Message): Promise<void> {
  const { outcomes, receipts, clock } = parts;
  const agent = parts.adapters.agent(session.identity.agent);
  const typed = typedText(agent, message);
  try {
    const watch = agent.capabilities.confirms ? await watchComposer(parts, session) : null;
    const endsAt = clock.monotonic() + (agent.capabilities.confirms ? patienceFor(message) : 0);
    do {
      await until(parts, () => isOver(parts, session, message), LOOK_MS);
      if (isOver(parts, session, message)) break;
      // Without Enter it was to stand there: nothing tells whether it does because of us.
      if (message.submit && watch !== null && (await isClearedFrom(watch, typed)))
        return await outcomes.putBack(message);
    } while (clock.monotonic() < endsAt);
    await outcomes.unknown(message, "interrupted", UNKNOWN);
  } finally {
    receipts.forget(session.id);
  }
}

async function isClearedFrom(watch: ComposerWatch, typed: string): Promise<boolean> {
  return watch.shows(typed, await watch.look()) && (await watch.clear());
}

function isOver(parts: TypedMessageParts, before: Session, message: Message): boolean {
  const session = parts.store.registry.get(before.id);
  const isSame =
    session !== undefined &&
    session.process.incarnation === before.process.incarnation &&
    mayTakeMessagesLater(session);
  return !isSame || parts.store.mailbox.get(message.id)?.state !== "leased";
}
