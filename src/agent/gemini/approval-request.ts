/**
 * A question of Gemini CLI, from its ToolPermission notification. Neither it
 * nor the records that follow have an id. So the time at which it was asked
 * becomes its id, and the transcript's tool call is matched by its input.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest, Concerns } from "../../session/approval.ts";
import { type Fields, fieldsOf, listOf, textIn } from "../../platform/json-fields.ts";

export function approvalRequestOf(notification: Fields): ApprovalRequest | null {
  if (textIn(notification, "notification_type") !== "ToolPermission") return null;
  const details = fieldsOf(notification["details"]);
  return {
    id: `permission-${textIn(notification, "timestamp") ?? "unknown"}`,
    ...questionOf(details),
    cwd: textIn(notification, "cwd"),
    reason: null,
  };
}

export function concernsOf(notification: Fields): Concerns {
  const details = fieldsOf(notification["details"]);
  const type = textIn(details, "type");
  const file = textIn(details, "filePath");
  return {
    tool: type === "mcp" ? textIn(details, "toolName") : type,
    paths: type === "edit" && file !== null ? [file] : [],
  };
}

function questionOf(details: Fields): Pick<ApprovalRequest, "kind" | "title" | "subject"> {
  const subject = subjectOf(details);
  switch (textIn(details, "type")) {
    case "exec":
      return { kind: "command", title: oneLine(`Run ${subject ?? "a command"}`), subject };
    case "edit":
      return { kind: "edit", title: oneLine(`Change ${textIn(details, "fileName") ?? subject ?? "a file"}`), subject };
    case "mcp":
      return { kind: "tool", title: oneLine(`Use ${subject ?? "an MCP tool"}`), subject };
    default:
      return { kind: "other", title: oneLine(textIn(details, "title") ?? "Gemini CLI asks"), subject };
  }
}

function subjectOf(details: Fields): string | null {
  switch (textIn(details, "type")) {
    case "exec":
      return textIn(details, "command");
    case "edit":
      return textIn(details, "filePath") ?? textIn(details, "fileName");
    case "mcp": {
      const tool = textIn(details, "toolName");
      return tool === null ? null : `${tool} of ${textIn(details, "serverName") ?? "an MCP server"}`;
    }
    default: {
      const urls = listOf(details["urls"]).filter((url) => typeof url === "string");
      return textIn(details, "prompt") ?? (urls.length === 0 ? null : urls.join(" "));
    }
  }
}

const TITLE_LENGTH = 200;

function oneLine(text: string): string {
  const line = stripTerminal(text).replaceAll(/\s+/g, " ").trim();
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH - 1)}…`;
}

/** A command stands there, long ones without their beginning; of an edit the file's name, of a tool its name. */
export function shownOf({ kind, subject }: ApprovalRequest): readonly string[] {
  if (subject === null) return [];
  switch (kind) {
    case "edit":
      return [subject.split("/").at(-1) ?? subject];
    case "tool":
      return [subject.split(" of ")[0] ?? subject];
    case "command":
    case "other":
      return [subject];
  }
}
