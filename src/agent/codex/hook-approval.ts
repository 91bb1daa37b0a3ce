/**
 * What a PermissionRequest hook asks (0.166.0: tool_name "Bash", "apply_patch"
 * or an MCP tool's; tool_input with `command`, and `description` when the model
 * gave a reason). It carries no id of its own, so one is made of the turn, the
 * tool and its input, which PostToolUse has as well.
 */
import { createHash } from "node:crypto";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest, Concerns } from "../../session/approval.ts";
import { approvalTitle } from "./approval-title.ts";
import { type Fields, fieldsOf, textOf } from "../../platform/json-fields.ts";

export function approvalOfHook(record: Fields): ApprovalRequest {
  const input = fieldsOf(record["tool_input"]);
  const tool = textOf(record["tool_name"]) ?? "a tool";
  const kind = kindOf(tool);
  const subject = subjectOf(input);
  const reason = textOf(input["description"]);
  return {
    id: approvalIdOfHook(record),
    kind,
    title: approvalTitle(kind, kind === "command" ? subject : tool),
    subject: subject === null ? null : stripTerminal(subject),
    cwd: textOf(record["cwd"]),
    reason: reason === null ? null : stripTerminal(reason),
  };
}

export function concernsOfHook(record: Fields): Concerns {
  const tool = textOf(record["tool_name"]);
  const isEdit = tool !== null && kindOf(tool) === "edit";
  return { tool, paths: isEdit ? pathsIn(subjectOf(fieldsOf(record["tool_input"])) ?? "") : [] };
}

export function approvalIdOfHook(record: Fields): string {
  const asked = JSON.stringify([record["tool_name"], subjectOf(fieldsOf(record["tool_input"]))]);
  const digest = createHash("sha256").update(asked).digest("hex").slice(0, 12);
  return `${textOf(record["turn_id"]) ?? "turn"}/${digest}`;
}

function kindOf(tool: string): ApprovalRequest["kind"] {
  if (tool === "Bash") return "command";
  return tool === "apply_patch" || tool === "Edit" || tool === "Write" ? "edit" : "tool";
}

function subjectOf(input: Fields): string | null {
  const { description: _, ...rest } = input;
  const command = textOf(rest["command"]);
  if (command !== null) return command;
  return Object.keys(rest).length === 0 ? null : JSON.stringify(rest);
}

/** A command stands there whole; of a patch the files' names, of a tool its name. */
export function shownOf({ kind, title, subject }: ApprovalRequest): readonly string[] {
  switch (kind) {
    case "command":
      return subject === null ? [] : [subject];
    case "edit":
      return filesIn(subject ?? "");
    case "tool":
      return [...toolIn(title)];
    case "other":
      return [];
  }
}

/** `*** Add File: hello.txt`, or as the protocol says it: `add hello.txt`. */
function filesIn(patch: string): readonly string[] {
  return namedIn(patch, /^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm).map((path) => path.split("/").at(-1) ?? path);
}

/** Whole, and also where a file is moved to. */
function pathsIn(patch: string): readonly string[] {
  return namedIn(patch, /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm);
}

function namedIn(patch: string, line: RegExp): readonly string[] {
  return [...patch.matchAll(line)].map(([, path = ""]) => path);
}

/** `Use the tool mcp__lab__danger?` is asked as: Allow the lab MCP server to run tool "danger"? */
function toolIn(title: string): readonly string[] {
  const [, name] = /^Use the tool (.+)\?$/.exec(title) ?? [];
  return name === undefined ? [] : (name.startsWith("mcp__") ? name.slice("mcp__".length) : name).split("__");
}
