/** Ids for conversations, for agents that accept an id from outside. */
import { createHash } from "node:crypto";

/**
 * Shaped like a random UUID (version 4), spread evenly over all its digits,
 * and the same each time it is asked for: a daemon that died between planning
 * and starting plans the same conversation again.
 */
export function nativeIdOf(sessionId: string): string {
  const hex = createHash("sha256").update(`reeve conversation ${sessionId}`).digest("hex");
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
