/** A limit that is reached, as an item of the inbox: one for each account and limit, however many sessions wait. */
import { type Condition, itemIdOf } from "./inbox.ts";
import { quotaWords } from "./inbox-text.ts";
import { parkedText } from "./parked.ts";
import type { ClosedQuota } from "./quota.ts";

/** One that lasts shorter is over before anybody could look. */
export const QUOTA_AFTER_MS = 10_000;

export function quotaCondition(quota: ClosedQuota, sessions: number, now: number): Condition {
  const { id, gate } = quota;
  return {
    id: itemIdOf(null, "quota", `${id} ${gate.sinceAt}`),
    sessionId: null,
    kind: "quota",
    urgency: "other",
    ...quotaWords(parkedText(quota, now), sessions),
    answers: ["acknowledge", "snooze"],
    approvalId: null,
    newsRevision: 0,
    sinceAt: gate.sinceAt,
  };
}
