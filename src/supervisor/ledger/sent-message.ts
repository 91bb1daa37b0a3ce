/** A message that somebody sent, as it is admitted. */
import { type Caller, callerName } from "../../session/caller.ts";
import type { Message } from "../../session/message.ts";
import type { SentMessage } from "./ledger.ts";

export function sentMessage(
  sessionId: string,
  message: Pick<Message, "id" | "text" | "submit" | "how">,
  { caller, at }: { readonly caller: Caller; readonly at: number },
): SentMessage {
  return {
    ...message,
    caller: callerName(caller),
    sessionId,
    state: "admitted",
    admittedAt: at,
    settled: null,
    detail: null,
  };
}
