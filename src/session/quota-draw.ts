/**
 * What a session draws on, and what the limits of its vendor did to it. Whether
 * it is parked is not here: that follows from the breaker (fleet/quota.ts).
 */
import type { LimitConfidence } from "./limit.ts";
import type { SOURCES } from "./session.ts";
import { added, count, flag, instant, listOf, object, type Of, orNull, text, textOf } from "./shape.ts";

/** Its vendor answers nothing more: as it was reported, until the breaker has taken it up. */
const rejection = object({
  /** The vendor's name of the limit; null where a turn failed because of one that nobody named. */
  limit: orNull(text),
  usedPercent: orNull(instant),
  resetsAt: orNull(instant),
  confidence: textOf<LimitConfidence>(),
  source: textOf<(typeof SOURCES)[number]>(),
  text,
  at: instant,
});
export interface Rejection extends Of<typeof rejection> {}

export const quotaDraw = object({
  /** The agent's id of the account whose limits this incarnation draws on; null where it is not known. */
  account: added(orNull(text), null),
  /** Its first start had to wait for a limit. */
  hasWaited: added(flag, false),
  rejections: added(listOf(rejection), []),
  /** The turn that failed because of a limit, until somebody goes on with it or asks for something else. */
  failed: added(orNull(object({ turn: count, resumesItself: flag })), null),
  /** The message with which Reeve goes on with such a turn. */
  resume: added(orNull(object({ messageId: text, turn: count })), null),
});
export interface QuotaDraw extends Of<typeof quotaDraw> {}
