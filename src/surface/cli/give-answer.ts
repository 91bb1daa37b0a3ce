/** Answers one question of an agent and prints the outcome. Shared by approve and deny. */
import { answerInWords } from "./answer.ts";
import { answerSentence } from "./approval-text.ts";
import type { CliContext, CommandInput, OptionSpec } from "./command.ts";
import { openPrompt } from "./reply.ts";
import { reportTurn, WAIT_TIMEOUT, waitTimeout } from "./report-turn.ts";

export const ANSWER_OPTIONS: readonly OptionSpec[] = [
  {
    name: "wait",
    summary: "wait for the end of its turn and print what it said; exits with 0 only if the turn completed",
  },
  WAIT_TIMEOUT,
];

/** 0 only when the answer that was asked for is the one that took effect. */
export async function giveAnswer(
  input: CommandInput,
  context: CliContext,
  decision: "approved" | "denied",
): Promise<number> {
  const client = context.client();
  const [session = "", approval] = input.arguments;
  const timeout = waitTimeout(input, decision === "approved" ? "approve" : "deny");
  const isWaiting = input.flag("wait");
  const prompt = isWaiting ? await openPrompt(client, session) : { text: null, since: null };
  const answered = await client.answerApproval({
    session,
    decision,
    ...(approval === undefined ? {} : { approval_id: approval }),
  });
  const isTaken = answered.state === "settled" && answered.decision === decision;
  // An answer that is still on its way is waited for; one that failed, or came too late, is not.
  if (!isWaiting || (!isTaken && answered.state !== "pending")) {
    answerInWords(context, answered, () => answerSentence(answered, decision, answered.title));
    return isTaken ? 0 : 1;
  }
  if (!context.isJson) context.output.note(answerSentence(answered, decision, answered.title));
  const waited = await client.waitForSession({
    session: answered.session_id,
    reply: false,
    since: answered.cursor,
    ...timeout,
  });
  return await reportTurn(context, client, waited, { prompt, fields: answered });
}
