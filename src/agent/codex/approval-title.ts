/** A question in one line, whichever source it came from. */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest } from "../../session/approval.ts";

const LONGEST = 200;

export function approvalTitle(kind: ApprovalRequest["kind"], subject: string | null): string {
  const what = subject === null ? null : oneLine(subject);
  switch (kind) {
    case "command":
      return what === null ? "Run a command?" : `Run: ${what}`;
    case "edit":
      return what === null || what === "apply_patch" ? "Change files?" : `Change files: ${what}`;
    case "tool":
      return what === null ? "Use a tool?" : `Use the tool ${what}?`;
    case "other":
      return what ?? "Codex asks for approval.";
  }
}

function oneLine(text: string): string {
  const line = stripTerminal(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`;
}
