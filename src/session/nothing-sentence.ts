/** Says why there is nothing to wait for: what was asked last, why it starts no turn, and whether it should have. */
import type { Ask } from "./ask.ts";
import { isOwnCommand, type Message } from "./message.ts";
import type { Session } from "./session.ts";

export function nothingSentence(session: Session, ask: Ask | null, message: Message | undefined): string {
  switch (ask?.body.type) {
    case "message-admitted":
      return message === undefined ? "It is idle." : messageSentence(message);
    case "approval-answer-requested":
      return "It is idle, and no turn has ended since its question was answered; see reeve data.";
    case "session-starting":
      return startSentence(session, ask.body.incarnation);
    case undefined:
      return "It is idle, and nothing was asked of it; send it a message first.";
  }
}

/** Somebody asked for a turn, and none came of it: that is no success. */
export function isUnanswered(session: Session, ask: Ask | null, message: Message | undefined): boolean {
  if (ask?.body.type === "session-starting") return isPromptLost(session);
  return message !== undefined && message.submit && !isOwnCommand(message);
}

function isPromptLost({ identity: { launch }, conversation: { turns } }: Session): boolean {
  return launch.prompt !== null && turns === 0;
}

function startSentence(session: Session, incarnation: number): string {
  if (isPromptLost(session)) return "It was started with a prompt, but no turn has begun; look at its screen.";
  const started = incarnation > 1 ? "was restarted" : "was started without a prompt";
  return `It ${started} and has been asked nothing since; send it a message first.`;
}

function messageSentence({ state, detail, submit }: Message): string {
  const because = detail === null ? "" : ` (${detail})`;
  if (state === "refused") return `Its last message was refused${because}, so it starts no turn.`;
  if (!submit) return "Its last message was typed without Enter, so it starts no turn.";
  if (state === "unknown")
    return `It is not known whether its last message arrived${because}; look at the session before you send it again.`;
  return "Its last message was delivered, but no turn has begun; look at its screen.";
}
