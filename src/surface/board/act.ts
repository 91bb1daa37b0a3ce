/** Carries out what a key asked for, over the client, and says in a sentence what came of it. */
import type { Client } from "../../client/create-client.ts";
import type { InputOf, OutputOf } from "../../client/operation-types.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { answerSentence } from "../cli/approval-text.ts";
import { isLost, outcomeSentence } from "../cli/message-outcome.ts";
import { oneLine, stateSentence } from "../cli/session-text.ts";
import { inputLine } from "./input-line.ts";
import type { Notice, TypedMode } from "./model.ts";
import type { SessionWish, Wish } from "./press.ts";

export interface Act {
  readonly notice: Notice;
  /** A session to go to. */
  readonly select?: string;
  /** It is recorded, and not done yet. */
  readonly isPending?: boolean;
  /** What was typed and not taken, to be corrected. */
  readonly typed?: TypedMode;
}

type OneWish = SessionWish | Extract<Wish, { readonly type: "answer" | "start" }>;
type EachWish = Extract<Wish, { readonly type: "each" }>;
export type ActWish = OneWish | EachWish;

type Here = Pick<InputOf<"startSession">, "cwd" | "environment">;

/** Never throws: what went wrong is told like everything else. */
export async function act(client: Client, wish: ActWish, here: () => Here): Promise<Act> {
  if (wish.type === "each") return await actOnEach(client, wish, here);
  try {
    return await carryOut(client, wish, here);
  } catch (error) {
    const typed = typedFor(wish);
    const text = oneLine(messageOf(error));
    if (typed === null) return { notice: { text, isBad: true } };
    return { notice: { text: `${text} Press ${typed.type === "new" ? "n" : "r"} to correct it.`, isBad: true }, typed };
  }
}

/** All at once, as the command line does it; each one that it did not work for is told by its name. */
async function actOnEach(client: Client, { of }: EachWish, here: () => Here): Promise<Act> {
  const outcomes = await Promise.all(
    of.map(async ({ name, wish }) => ({
      name: oneLine(name),
      wish,
      done: await carryOut(client, wish, here).catch((error: unknown) => ({
        ...said(messageOf(error), true),
        isRefused: true,
      })),
    })),
  );
  const failed = outcomes.filter(({ done }) => done.notice.isBad);
  const pending = outcomes.filter(({ done }) => !done.notice.isBad && done.isPending === true);
  const count = of.length - failed.length - pending.length;
  const names = (some: typeof outcomes): string => some.map(({ name }) => name).join(", ");
  // The same reason is told once.
  const reasons = [...Map.groupBy(failed, ({ done }) => done.notice.text)];
  const [first] = of;
  const sentences = [
    `${first === undefined ? "" : DONE_WORDS[first.wish.type]} ${count} of ${of.length} sessions.`,
    ...(pending.length === 0 ? [] : [`Still under way: ${names(pending)}.`]),
    ...reasons.map(([text, some]) => `Failed for ${names(some)}: ${text}`),
  ];
  const notice = { text: sentences.join(" "), isBad: failed.length > 0 };
  // What is not known to have arrived may have.
  const refused = failed.filter(({ done }) => "isRefused" in done);
  const [lost] = refused;
  if (lost === undefined || lost.wish.type !== "reply") return { notice };
  const sessions = refused.map(({ wish }) => wish.session);
  return { notice, typed: { type: "reply", sessions, line: inputLine(lost.wish.text) } };
}

const DONE_WORDS = {
  pause: "Paused",
  resume: "Resumed",
  restart: "Restarted",
  interrupt: "Interrupted",
  end: "Ended",
  reply: "Sent to",
} as const satisfies Record<SessionWish["type"], string>;

function typedFor(wish: OneWish): TypedMode | null {
  if (wish.type === "start") return { type: "new", line: inputLine(`${wish.agent} ${wish.prompt}`) };
  return wish.type === "reply" ? { type: "reply", sessions: [wish.session], line: inputLine(wish.text) } : null;
}

/** What is said at once, because what comes of it may take seconds. */
export function underWay(wish: ActWish): string | null {
  switch (wish.type) {
    case "reply":
      return "Sending the reply…";
    case "start":
      return `Starting ${oneLine(wish.agent)}…`;
    case "each":
      return `Asking ${wish.of.length} sessions…`;
    default:
      return null;
  }
}

/** The board goes on meanwhile; what takes longer is seen in the list. */
const WAIT_SECONDS = 3;

async function carryOut(client: Client, wish: OneWish, here: () => Here): Promise<Act> {
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
      return { ...said(outcomeSentence(sent), isLost(sent)), isPending: sent.state !== "delivered" };
    }
    case "start": {
      const started = await client.startSession({ ...here(), ...launchOf(wish.agent, wish.prompt) });
      return { ...said(`Started ${oneLine(started.name)}.`, false), select: started.session_id };
    }
    case "pause":
      return changed(await client.pauseSession({ session: wish.session }));
    case "resume":
      return changed(await client.resumeSession({ session: wish.session }));
    case "restart": {
      const { environment } = here();
      const { session } = wish;
      return changed(await client.restartSession({ session, environment, timeout_seconds: WAIT_SECONDS }));
    }
    case "interrupt": {
      const { done, session, note } = await client.interruptSession({ session: wish.session });
      if (note !== null) return said(note, !done);
      const name = oneLine(session.name);
      return { ...said(`The turn of ${name} ${done ? "was" : "is being"} interrupted.`, false), isPending: !done };
    }
    case "end": {
      const { session, when } = wish;
      const ended = await client.endSession({ session, when, timeout_seconds: WAIT_SECONDS });
      if (ended.done) return changed(ended);
      return { ...said(`${oneLine(ended.session.name)} is being ended.`, false), isPending: true };
    }
  }
}

function changed({ done, session }: OutputOf<"pauseSession">): Act {
  return { ...said(stateSentence(session), false), isPending: !done };
}

/** The agent `command` takes a command line instead of a prompt. */
function launchOf(agent: string, prompt: string): Pick<InputOf<"startSession">, "agent" | "args" | "prompt"> {
  if (agent === "command") return { agent, args: ["sh", "-c", prompt] };
  return prompt === "" ? { agent } : { agent, prompt };
}

function said(text: string, isBad: boolean): Act {
  return { notice: { text: oneLine(text), isBad } };
}
