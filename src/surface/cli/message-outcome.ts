/** What became of a message: as the answer to it says, and as the log says later. */
import type { Client } from "../../client/create-client.ts";
import type { EventView, OutputOf } from "../../client/operation-types.ts";
import { oneLine } from "./session-text.ts";
import { textIn } from "../../session/text-in.ts";

export type Sent = OutputOf<"sendMessage">;

const OUTCOMES = {
  admitted: "Recorded; it is typed as soon as the session can take it.",
  leased: "Recorded; it is being typed.",
  delivered: "Delivered.",
  refused: "Refused.",
  unknown: "It is not known whether it arrived; look at the session before sending it again.",
} as const satisfies Record<Sent["state"], string>;

export function outcomeSentence({ state, detail, warning }: Sent): string {
  const parts = [OUTCOMES[state], detail, warning].filter((part) => part !== null);
  return parts.map(oneLine).reduce((before, next) => `${before}${/[.!?]$/.test(before) ? "" : "."} ${next}`);
}

export function isLost({ state }: Sent): boolean {
  return state === "refused" || state === "unknown";
}

/** The same message with the outcome it has by now. */
export async function settledBy(client: Client, sent: Sent): Promise<Sent> {
  for (let since = sent.cursor; ;) {
    const { events, cursor } = await client.readEvents({ session: sent.session_id, since });
    const outcome = events.findLast(
      ({ data, type }) => data["message_id"] === sent.message_id && stateBy(type) !== null,
    );
    if (outcome !== undefined) return withOutcome(sent, outcome);
    if (events.length === 0) return sent;
    since = cursor;
  }
}

function withOutcome(sent: Sent, { type, data }: EventView): Sent {
  const detail = textIn(data["evidence"], "detail") ?? textIn(data["reason"], "text");
  return { ...sent, state: stateBy(type) ?? sent.state, detail };
}

function stateBy(type: string): Sent["state"] | null {
  switch (type) {
    case "message-delivered":
      return "delivered";
    case "message-refused":
      return "refused";
    case "message-unknown":
      return "unknown";
    default:
      return null;
  }
}
