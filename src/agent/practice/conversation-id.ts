/** Ids of practice conversations. */
import { createHash } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isConversationId(value: unknown): value is string {
  return typeof value === "string" && UUID.test(value);
}

/** A session's conversation id: shaped like a random UUID (version 4), the same each time it is asked for. */
export function conversationIdOf(sessionId: string): string {
  const hex = createHash("sha256").update(`reeve practice conversation ${sessionId}`).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
