/** One question of an agent answered, and what came of it told. Shared by approve and deny. */
import { answer } from "./answer.ts";
import { answerSentence } from "./approval-text.ts";
import type { CliContext, CommandInput } from "./command.ts";

/** 0 only when the answer that was asked for is the one that took effect. */
export async function giveAnswer(
  input: CommandInput,
  context: CliContext,
  decision: "approved" | "denied",
): Promise<number> {
  const [session = "", approval] = input.arguments;
  const answered = await context.client().answerApproval({
    session,
    decision,
    ...(approval === undefined ? {} : { approval_id: approval }),
  });
  answer(context, answered, () => answerSentence(answered, decision, answered.title));
  return answered.state === "settled" && answered.decision === decision ? 0 : 1;
}
