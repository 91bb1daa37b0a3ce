/**
 * A question of Gemini CLI, from its ToolPermission notification. It has no id
 * of its own, nor has what follows one: so the moment names it, and the
 * transcript's tool call is matched by its input.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest } from "../../session/approval.ts";
import { type JsonRecord, listAt, recordAt, textAt } from "./json-value.ts";

export function approvalRequestOf(notification: JsonRecord): ApprovalRequest | null {
  if (textAt(notification, "notification_type") !== "ToolPermission") return null;
  const details = recordAt(notification, "details");
  return {
    id: `permission-${textAt(notification, "timestamp") ?? "unknown"}`,
    ...questionOf(details),
    cwd: textAt(notification, "cwd"),
    reason: null,
  };
}

function questionOf(details: JsonRecord): Pick<ApprovalRequest, "kind" | "title" | "subject"> {
  const subject = subjectOf(details);
  switch (textAt(details, "type")) {
    case "exec":
      return { kind: "command", title: oneLine(`Run ${subject ?? "a command"}`), subject };
    case "edit":
      return { kind: "edit", title: oneLine(`Change ${textAt(details, "fileName") ?? subject ?? "a file"}`), subject };
    case "mcp":
      return { kind: "tool", title: oneLine(`Use ${subject ?? "an MCP tool"}`), subject };
    default:
      return { kind: "other", title: oneLine(textAt(details, "title") ?? "Gemini CLI asks"), subject };
  }
}

function subjectOf(details: JsonRecord): string | null {
  switch (textAt(details, "type")) {
    case "exec":
      return textAt(details, "command");
    case "edit":
      return textAt(details, "filePath") ?? textAt(details, "fileName");
    case "mcp": {
      const tool = textAt(details, "toolName");
      return tool === null ? null : `${tool} of ${textAt(details, "serverName") ?? "an MCP server"}`;
    }
    default: {
      const urls = listAt(details, "urls").filter((url) => typeof url === "string");
      return textAt(details, "prompt") ?? (urls.length === 0 ? null : urls.join(" "));
    }
  }
}

const TITLE_LENGTH = 200;

function oneLine(text: string): string {
  const line = stripTerminal(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1)}…`;
}
