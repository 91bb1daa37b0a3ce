/** What is typed into Claude Code's pane. */
import type { ApprovalRequest, Decision } from "../../session/approval.ts";
import type { InputStep } from "../../session/input.ts";
import type { ActivityStatus } from "../../session/session.ts";

/** Enter within the same instant is taken as part of the paste. */
const PASTE_SETTLES_MS = 150;

/**
 * A paste that begins with `!` would be run by a shell, without being asked;
 * behind a blank it is a prompt. A backslash right before Enter would make it
 * a line break; a blank between them is trimmed.
 */
export function encode({ text, submit }: { readonly text: string; readonly submit: boolean }): readonly InputStep[] {
  const steps: InputStep[] = [];
  const before = text.startsWith("!") ? " " : "";
  const after = submit && text.endsWith("\\") ? " " : "";
  if (text !== "") steps.push({ type: "paste", text: `${before}${text}${after}` });
  if (submit && text !== "") steps.push({ type: "pause", ms: PASTE_SETTLES_MS });
  if (submit) steps.push({ type: "key", key: "Enter" });
  return steps;
}

export const INTERRUPT: readonly InputStep[] = [{ type: "key", key: "Escape" }];

/**
 * `1` is always a plain "Yes". "No" has no fixed number: in 2.1.325 it may be
 * 3 or 4, and 3 may be "Yes, and switch to auto mode". Esc is always "No"; it
 * ends the turn, too, as "No" does.
 */
export function encodeAnswer(_approval: ApprovalRequest, decision: Decision): readonly InputStep[] {
  return [{ type: "key", key: decision === "approved" ? "1" : "Escape" }];
}

/**
 * During a turn Claude Code queues what is typed, and Reeve's mailbox can take
 * a message back, Claude Code's queue cannot. In a dialog keys are answers:
 * Enter may approve, or leave.
 */
export const ACCEPTS = {
  starting: false,
  working: false,
  idle: true,
  "awaiting-approval": false,
  "awaiting-input": false,
  unknown: false,
} as const satisfies Record<ActivityStatus, boolean>;
