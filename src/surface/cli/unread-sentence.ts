/** What an agent is told after each command in its session, while it has unread mail. */
import type { UnreadMailCount } from "../../client/request.ts";

/** Null: there is nothing to tell. */
export function unreadSentence(count: UnreadMailCount | null): string | null {
  if (count === null || count.unread === 0) return null;
  return `${unreadCount(count)}: reeve mail check`;
}

/** "2 unread mails, 1 of them a hand-off" */
export function unreadCount({ unread, handOffs }: UnreadMailCount): string {
  const mails = `${unread} unread ${unread === 1 ? "mail" : "mails"}`;
  if (handOffs === 0) return mails;
  if (unread === 1) return `${mails}, a hand-off`;
  return `${mails}, ${handOffs} of them ${handOffs === 1 ? "a hand-off" : "hand-offs"}`;
}
