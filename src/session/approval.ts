import type { CallerName } from "./caller.ts";

/** A question an agent puts before it goes on: run this command, edit this file, use this tool? */
export interface ApprovalRequest {
  /** The agent's own id of the question where it has one, else made by its adapter; unique within the session. */
  readonly id: string;
  readonly kind: "command" | "edit" | "tool" | "other";
  /** What is asked, in one line. */
  readonly title: string;
  /** The command to run, the file to change, the tool's input: whole, for whoever decides. */
  readonly subject: string | null;
  readonly cwd: string | null;
  /** Why, in the agent's words. */
  readonly reason: string | null;
}

/** Of a question that was seen before, or without, anything that told what is asked. */
const SEEN = "seen-";

export function seenApprovalId(name: string): string {
  return `${SEEN}${name}`;
}

export function isOnlySeen({ id }: ApprovalRequest): boolean {
  return id.startsWith(SEEN);
}

export type Decision = "approved" | "denied";

/** An approval as the session's record holds it, until it is settled. */
export interface Approval extends ApprovalRequest {
  readonly requestedAt: number;
  /** Somebody asked Reeve to answer; `given` once the first key was pressed, and then never pressed again. */
  readonly answer: Answer | null;
}

export interface Answer {
  readonly decision: Decision;
  readonly stage: "wanted" | "given";
  readonly at: number;
  /** Who answers. */
  readonly by: CallerName;
}
