/**
 * The prompt of the turn under way, where Reeve typed it: the session took it,
 * so whoever reads what was said expects to find it there.
 */
import type { TranscriptMessage } from "../agent/contract.ts";
import { visibleText } from "../agent/visible-text.ts";
import { isOwnCommand, type Message } from "../session/message.ts";
import type { Session } from "../session/session.ts";
import type { Mailbox } from "../store/contract.ts";

export function takenMessage(mailbox: Pick<Mailbox, "typed">, { id, conversation }: Session): Message | null {
  if (!conversation.turnOpen) return null;
  const [newest] = mailbox.typed(id, 1);
  if (newest?.state !== "delivered" || !newest.submit || newest.answers !== null) return null;
  return newest.how === "steer" || isOwnCommand(newest) ? null : newest;
}

/** Also where so much was said since that it was cut off. */
export function isShown(
  { text, settled }: Message,
  messages: readonly Pick<TranscriptMessage, "role" | "text" | "at">[],
  isCut: boolean,
): boolean {
  // An agent may put something around it, and a text that was typed without Enter stands in front of it.
  const wanted = visibleText(text);
  if (messages.some((message) => message.role === "user" && visibleText(message.text).includes(wanted))) return true;
  const oldest = messages[0]?.at ?? null;
  return isCut && oldest !== null && settled !== null && Date.parse(oldest) > settled.at;
}
