/** An item of work that failed, as an item of the inbox: a person retries it, accepts it or lets it be. */
import { type Condition, itemIdOf } from "./inbox.ts";
import { workWords } from "./inbox-text.ts";
import { isReviewLimitReached } from "./work-change.ts";
import type { WorkItem } from "./work.ts";

/** Null: nobody needs to look at it. */
export function workCondition(item: WorkItem): Condition | null {
  if (item.state !== "failed") return null;
  const { id, title, why, failures, changedAt } = item;
  return {
    // Each time it fails is a thing of its own.
    id: itemIdOf(null, "work", `${id} ${changedAt}`),
    sessionId: null,
    kind: "work",
    urgency: "failed",
    ...workWords({ id, title, why, failures, isReviewLimit: isReviewLimitReached(item) }),
    answers: ["acknowledge", "snooze"],
    approvalId: null,
    newsRevision: 0,
    sinceAt: changedAt,
  };
}
