/** Carries out what a key asked for, over the client, and says in a sentence what came of it. */
import type { Client } from "../../client/create-client.ts";
import type { InputOf } from "../../client/operation-types.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { answerSentence } from "../cli/approval-text.ts";
import { isLost, outcomeSentence } from "../cli/message-outcome.ts";
import { oneLine, stateSentence } from "../cli/session-text.ts";
import { inputLine } from "./input-line.ts";
import type { Notice, TypedMode } from "./model.ts";
import type { Wish } from "./press.ts";

export interface Act {
  readonly notice: Notice;
  /** A session to go to. */
  readonly select?: string;
  /** What was typed and not taken, to be corrected. */
  readonly typed?: TypedMode;
}

export type ActWish = Extract<
  Wish,
  { readonly type: "answer" | "reply" | "start" | "pause" | "resume" | "restart" | "end" }
>;

type Here = Pick<InputOf<"startSession">, "cwd" | "environment">;

/** Never throws: what went wrong is told like everything else. */
export async function act(client: Client, wish: ActWish, here: () => Here): Promise<Act> {
  try {
    return await carryOut(client, wish, here);
  } catch (error) {
    const typed = typedFor(wish);
    const text = oneLine(messageOf(error));
    if (typed === null) return { notice: { text, isBad: true } };
    return { notice: { text: `${text} Press ${typed.type === "new" ? "n" : "r"} to correct it.`, isBad: true }, typed };
  }
}

function typedFor(wish: ActWish): TypedMode | null {
  if (wish.type === "start") return { type: "new", line: inputLine(`${wish.agent} ${wish.prompt}`) };
  return wish.type === "reply" ? { type: "reply", session: wish.session, line: inputLine(wish.text) } : null;
}

/** What is said at once, because what comes of it may take seconds. */
export function underWay(wish: ActWish): string | null {
  switch (wish.type) {
    case "reply":
      return "Sending the reply…";
    case "start":
      return `Starting ${oneLine(wish.agent)}…`;
    default:
      return null;
  }
}

/** The board goes on meanwhile; what takes longer is seen in the list. */
const WAIT_SECONDS = 3;

async function carryOut(client: Client, wish: ActWish, here: () => Here): Promise<Act> {
  switch (wish.type) {
    case "answer": {
      const { session, decision, approval } = wish;
      const answered = await client.answerApproval({ session, decision, approval_id: approval });
      const isDone = answered.state === "settled" && answered.decision === decision;
      return said(answerSentence(answered, decision, answered.title), answered.state !== "pending" && !isDone);
    }
    case "reply": {
      const { session, text } = wish;
      const sent = await client.sendMessage({ session, text, timeout_seconds: WAIT_SECONDS });
      return said(outcomeSentence(sent), isLost(sent));
    }
    case "start": {
      const started = await client.startSession({ ...here(), ...launchOf(wish.agent, wish.prompt) });
      return { ...said(`Started ${oneLine(started.name)}.`, false), select: started.session_id };
    }
    case "pause":
      return said(stateSentence((await client.pauseSession({ session: wish.session })).session), false);
    case "resume":
      return said(stateSentence((await client.resumeSession({ session: wish.session })).session), false);
    case "restart": {
      const { environment } = here();
      const { session } = wish;
      const restarted = await client.restartSession({ session, environment, timeout_seconds: WAIT_SECONDS });
      return said(stateSentence(restarted.session), false);
    }
    case "end": {
      const { session, when } = wish;
      const ended = await client.endSession({ session, when, timeout_seconds: WAIT_SECONDS });
      const name = oneLine(ended.session.name);
      return said(ended.done ? stateSentence(ended.session) : `${name} is being ended.`, false);
    }
  }
}

/** The agent `command` takes a command line instead of a prompt. */
function launchOf(agent: string, prompt: string): Pick<InputOf<"startSession">, "agent" | "args" | "prompt"> {
  if (agent === "command") return { agent, args: ["sh", "-c", prompt] };
  return prompt === "" ? { agent } : { agent, prompt };
}

function said(text: string, isBad: boolean): Act {
  return { notice: { text: oneLine(text), isBad } };
}
