import type { CallerName } from "./caller.ts";
import { instant, later, object, type Of, oneOf, orNull, text, textOf } from "./shape.ts";

/** A question an agent puts before it goes on: run this command, edit this file, use this tool? */
const approvalRequest = object({
  /** The agent's own id of the question where it has one, else made by its adapter; unique within the session. */
  id: text,
  kind: oneOf("command", "edit", "tool", "other"),
  /** What is asked, in one line. */
  title: text,
  /** The command to run, the file to change, the tool's input: whole, for whoever decides. */
  subject: orNull(text),
  cwd: orNull(text),
  /** Why, in the agent's words. */
  reason: orNull(text),
});
export interface ApprovalRequest extends Of<typeof approvalRequest> {}

/** Of a question that was seen before, or without, anything that told what is asked. */
const SEEN = "seen-";

export function seenApprovalId(name: string): string {
  return `${SEEN}${name}`;
}

export function isOnlySeen({ id }: ApprovalRequest): boolean {
  return id.startsWith(SEEN);
}

/** What approve and deny choose in a dialog on the agent's screen, in the dialog's words. */
const choices = object({ approved: text, denied: text });
export interface Choices extends Of<typeof choices> {}

const decision = oneOf("approved", "denied");
export type Decision = Of<typeof decision>;

const answer = object({
  decision,
  stage: oneOf("wanted", "given"),
  at: instant,
  /** Who answers; earlier versions knew no other caller. */
  by: later(textOf<CallerName>(), "operator"),
});
export interface Answer extends Of<typeof answer> {}

/** An approval as the session's record holds it, until it is settled. */
export const approval = object({
  ...approvalRequest.fields,
  requestedAt: instant,
  /** Of a dialog (trust this folder?) that only the screen shows; null for what the agent reported. */
  choices: later(orNull(choices), null),
  /** Somebody asked Reeve to answer; `given` once the first key was pressed, and then never pressed again. */
  answer: orNull(answer),
});
export interface Approval extends Of<typeof approval> {}

/** Whether it is a dialog on the screen: recognised, answered and seen to be gone there, and nowhere else. */
export function isDialog({ choices: known }: Approval): boolean {
  return known !== null;
}
