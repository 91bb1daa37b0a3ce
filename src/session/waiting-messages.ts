/**
 * How much may wait to be typed into one session. A session that is paused, or
 * works for hours, takes nothing meanwhile; whoever goes on sending is told so
 * instead of filling the disk.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Message } from "./message.ts";

export const MOST_WAITING = 500;
export const MOST_WAITING_BYTES = 8_388_608;

export function requireRoomToWait(name: string, waiting: readonly Pick<Message, "text">[], text: string): void {
  const bytes = waiting.reduce((sum, message) => sum + Buffer.byteLength(message.text), Buffer.byteLength(text));
  if (waiting.length < MOST_WAITING && bytes <= MOST_WAITING_BYTES) return;
  const most =
    waiting.length < MOST_WAITING ? `${MOST_WAITING_BYTES / 1_048_576} MB of text` : `${MOST_WAITING} messages`;
  throw new ReeveError({
    code: "too-much-waiting",
    kind: "conflict",
    message: `Session ${name} has as much waiting as it may, ${most}; send again when it has taken some of it, or see why it waits with: reeve explain ${name}.`,
    details: { waiting: waiting.length },
  });
}
