/** A session that was started again and could not go on with its conversation says so: as its reason, and to who restarted it. */
import type { Session } from "./session.ts";

/** The code of that reason. */
export const NEW_CONVERSATION = "new-conversation";

export function newConversationSentence({ conversation: { turns } }: Session): string {
  return turns === 0
    ? "It began a new conversation: there was nothing to resume yet."
    : "It began a new conversation: the earlier one held nothing that could be resumed.";
}
