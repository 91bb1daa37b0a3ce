import type { CallerName } from "./caller.ts";
import type { Surface } from "../platform/surface.ts";
import { instant, later, listOf, object, type Of, oneOf, orNull, text, textOf } from "./shape.ts";

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

/** Longest text of a question or an error that is kept: enough to decide by, little enough for every list. A longer one is cut. */
export const LONGEST_TEXT = 4_000;

/** What an approval rule needs to know of a question beyond its texts, as the agent's adapter tells it. */
const concerns = object({
  /** The agent's own name of the tool: "Bash", "apply_patch", "mcp__lab__fetch"; null where it has none. */
  tool: orNull(text),
  /** The files that would be changed, as the agent names them; empty where that is not known. */
  paths: listOf(text),
});
export interface Concerns extends Of<typeof concerns> {}

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

/** What an approval rule decides, and which. */
export interface Ruling {
  readonly rule: string;
  readonly decision: Decision;
}

const answer = object({
  decision,
  stage: oneOf("wanted", "given"),
  at: instant,
  /** Who answers; earlier versions knew no other caller. */
  by: later(textOf<CallerName>(), "operator"),
  /** How whoever answers came to Reeve; null where that is not known. */
  via: later(orNull(textOf<Surface>()), null),
  /** The approval rule that decided it; null where a caller did. */
  rule: later(orNull(text), null),
});
export interface Answer extends Of<typeof answer> {}

/** An approval as the session's record holds it, until it is settled. */
export const approval = object({
  ...approvalRequest.fields,
  requestedAt: instant,
  /** Of a dialog (trust this folder?) that only the screen shows; null for what the agent reported. */
  choices: later(orNull(choices), null),
  concerns: later(orNull(concerns), null),
  /** Somebody asked Reeve to answer; `given` once the first key was pressed, and then never pressed again. */
  answer: orNull(answer),
});
export interface Approval extends Of<typeof approval> {}

/** Whether it is a dialog on the screen: recognised, answered and seen to be gone there, and nowhere else. */
export function isDialog({ choices: known }: Approval): boolean {
  return known !== null;
}
