/**
 * The question in a PermissionRequest record (2.1.325): tool_name, tool_input,
 * cwd, but no id. The id made here begins with the time at which it was asked,
 * so that a later status file can be told from an earlier one.
 */
import { createHash } from "node:crypto";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest, Concerns } from "../../session/approval.ts";
import { type Fields, fieldsOrNull, listIn, textIn } from "../../platform/json-fields.ts";

export function approvalOf(record: Fields, askedAt: number): ApprovalRequest | null {
  const tool = textIn(record, "tool_name");
  if (tool === null) return null;
  const input = fieldsOrNull(record["tool_input"]) ?? {};
  return {
    id: [askedAt, ...(textIn(record, "agent_id") === null ? [] : [SUBAGENT]), questionHash(record)].join("-"),
    ...contentOf(tool, input),
    cwd: textIn(record, "cwd"),
    reason: cleanedText(input, "description"),
  };
}

export function concernsOf(record: Fields): Concerns {
  const input = fieldsOrNull(record["tool_input"]) ?? {};
  const tool = textIn(record, "tool_name") ?? "";
  const file = cleanedText(input, "file_path") ?? cleanedText(input, "notebook_path");
  return { tool: stripTerminal(tool), paths: EDITING_TOOLS.has(tool) && file !== null ? [file] : [] };
}

const SUBAGENT = "subagent";

/** A subagent in the background asks while the main agent begins and ends turns; the dialog stays open. */
export function openSubagentQuestion(approvals: readonly ApprovalRequest[]): ApprovalRequest | undefined {
  return approvals.find(isOfSubagent);
}

export function isOfSubagent(approval: ApprovalRequest): boolean {
  return approval.id.includes(`-${SUBAGENT}-`);
}

/** The same for a question and for the report that its tool has run. */
export function questionHash(record: Fields): string {
  const about = JSON.stringify([record["agent_id"] ?? null, record["tool_name"], record["tool_input"]]);
  return createHash("sha256").update(about).digest("hex").slice(0, 16);
}

export function isAbout(approval: ApprovalRequest, hash: string): boolean {
  return approval.id.endsWith(`-${hash}`);
}

/** Milliseconds since the epoch; 0 for an id that was not made here. */
export function askedAtOf(approval: ApprovalRequest): number {
  const [, digits] = /^(\d{1,15})-/.exec(approval.id) ?? [];
  return Number(digits ?? 0);
}

/** Questions that are no yes or no: answered by a person in the pane. */
export function openQuestionOf(record: Fields): string | null {
  const input = fieldsOrNull(record["tool_input"]);
  switch (textIn(record, "tool_name")) {
    case "AskUserQuestion":
      return listIn(input, "questions").map(questionText).join(" ") || "Claude Code asks a question.";
    case "ExitPlanMode":
      return "Claude Code has made a plan and asks whether to go ahead.";
    case "EnterPlanMode":
      return "Claude Code asks whether to plan first.";
    default:
      return null;
  }
}

function questionText(question: Fields): string {
  const labels = listIn(question, "options").map((option) => cleanedText(option, "label") ?? "?");
  const asked = oneLine(cleanedText(question, "question") ?? "?");
  return labels.length === 0 ? asked : `${asked} (${oneLine(labels.join(" / "))})`;
}

function contentOf(tool: string, input: Fields): Pick<ApprovalRequest, "kind" | "title" | "subject"> {
  const command = cleanedText(input, "command");
  if (tool === "Bash" && command !== null)
    return { kind: "command", title: `Run: ${oneLine(command)}`, subject: command };
  const file = cleanedText(input, "file_path") ?? cleanedText(input, "notebook_path");
  const subject = stripTerminal(JSON.stringify(input, null, 2));
  if (EDITING_TOOLS.has(tool) && file !== null) return { kind: "edit", title: `${tool}: ${oneLine(file)}`, subject };
  const name = oneLine(stripTerminal(tool));
  const gist = cleanedText(input, "url") ?? cleanedText(input, "query") ?? file;
  return { kind: "tool", title: gist === null ? `Use ${name}` : `Use ${name}: ${oneLine(gist)}`, subject };
}

const EDITING_TOOLS: ReadonlySet<string> = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

function cleanedText(fields: Fields, key: string): string | null {
  const text = textIn(fields, key);
  return text === null ? null : stripTerminal(text);
}

const LONGEST_TITLE = 200;

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST_TITLE ? `${line.slice(0, LONGEST_TITLE - 1)}…` : line;
}

/** A command stands there whole; of an edit only the file's name, of other tools what they are to be used on. */
export function shownOf({ kind, title, subject }: ApprovalRequest): readonly string[] {
  if (kind === "command" && subject !== null) return [subject];
  const [, about] = /: (.+)$/s.exec(title) ?? [];
  if (about === undefined) return [];
  return [kind === "edit" || about.startsWith("/") ? (about.split("/").at(-1) ?? about) : about];
}
