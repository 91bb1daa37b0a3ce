/**
 * Questions of the app-server, and how they are answered. They are requests to
 * every client that follows the thread; the first answer counts, and one that
 * connects later is asked again under the same request id (0.166.0).
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest, Concerns, Decision } from "../../session/approval.ts";
import { approvalTitle } from "./approval-title.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../../platform/json-fields.ts";
import type { RequestId } from "./rpc.ts";

export interface ProtocolApproval {
  readonly requestId: RequestId;
  readonly request: ApprovalRequest;
  readonly concerns: Concerns;
  answer(decision: Decision): Fields;
  /** What a completed item says of how this was answered; null when it is about something else. */
  verdict(item: Fields): Decision | null;
}

/** Null for a request that is not a question of yes or no. `changes`: what each item said that it would change. */
export function approvalOf(
  method: string,
  params: Fields,
  requestId: RequestId,
  changes: ReadonlyMap<string, PlannedChange>,
): ProtocolApproval | null {
  const itemId = textOf(params["itemId"]);
  const concerns = (tool: string, paths: readonly string[] = []): Concerns => ({ tool, paths });
  const common = { requestId, answer: plainAnswer, verdict: (item: Fields) => itemVerdict(item, itemId) };
  switch (method) {
    case "item/commandExecution/requestApproval":
      return { ...common, concerns: concerns("Bash"), request: requestOf(params, "command", commandOf(params)) };
    case "item/fileChange/requestApproval": {
      const changed = itemId === null ? undefined : changes.get(itemId);
      return {
        ...common,
        concerns: concerns("apply_patch", changed?.paths),
        request: requestOf(params, "edit", changed?.text ?? textOf(params["grantRoot"])),
      };
    }
    case "item/permissions/requestApproval": {
      const { permissions } = params;
      const request = requestOf(params, "other", `More permissions: ${JSON.stringify(permissions ?? {})}`);
      const answer = (decision: Decision): Fields => ({
        permissions: decision === "approved" ? fieldsOf(permissions) : {},
        scope: "turn",
      });
      return { ...common, concerns: concerns("permissions"), request, answer };
    }
    case "mcpServer/elicitation/request":
      return toolApproval(params, requestId);
    default:
      return null;
  }
}

/** "decline" lets the turn go on; Esc in the TUI is "cancel", which ends it. */
function plainAnswer(decision: Decision): Fields {
  return { decision: decision === "approved" ? "accept" : "decline" };
}

function itemVerdict(item: Fields, itemId: string | null): Decision | null {
  if (itemId === null || item["id"] !== itemId) return null;
  return item["status"] === "declined" ? "denied" : "approved";
}

/** An MCP tool is asked about in the form of an elicitation; one that a server makes itself is for a person to fill in. */
function toolApproval(params: Fields, requestId: RequestId): ProtocolApproval | null {
  const { codex_approval_kind: kind, tool_params: input } = fieldsOf(params["_meta"]);
  if (kind !== "mcp_tool_call") return null;
  const server = textOf(params["serverName"]);
  const message = stripTerminal(textOf(params["message"]) ?? `Use a tool of ${server ?? "an MCP server"}?`);
  return {
    requestId,
    request: {
      id: `${textOf(params["turnId"]) ?? "turn"}/request-${requestId}`,
      kind: "tool",
      title: message,
      subject: input === undefined ? null : stripTerminal(JSON.stringify(input)),
      cwd: null,
      reason: null,
    },
    // Of the tool only its server is told, and its name within a sentence.
    concerns: { tool: server === null ? null : `mcp__${server}`, paths: [] },
    answer: (decision) => ({ action: decision === "approved" ? "accept" : "decline", content: null, _meta: null }),
    verdict(item) {
      if (item["type"] !== "mcpToolCall" || item["server"] !== server) return null;
      const failure = textOf(fieldsOf(item["error"])["message"]);
      return /^user (?:rejected|cancelled) /.test(failure ?? "") ? "denied" : "approved";
    },
  };
}

function requestOf(params: Fields, kind: ApprovalRequest["kind"], subject: string | null): ApprovalRequest {
  const reason = textOf(params["reason"]);
  const parts = [textOf(params["turnId"]) ?? "turn", textOf(params["itemId"]) ?? "item", textOf(params["approvalId"])];
  return {
    id: parts.filter((part) => part !== null).join("/"),
    kind,
    title: approvalTitle(kind, subject),
    subject: subject === null ? null : stripTerminal(subject),
    cwd: textOf(params["cwd"]),
    reason: reason === null ? null : stripTerminal(reason),
  };
}

const WRAPPED = /^\S*sh -l?c '([^']*)'$/;

/** The whole command, without the shell around it (`/bin/bash -lc '…'`) where that is plain to see. */
function commandOf(params: Fields): string | null {
  const command = textOf(params["command"]);
  return command === null ? null : (WRAPPED.exec(command)?.[1] ?? command);
}

/** Of an item `{"type":"fileChange","changes":[{"path":…,"kind":{"type":"add"},"diff":…}]}`: each file and its difference. */
export function changesOf(item: Fields): PlannedChange | null {
  if (item["type"] !== "fileChange") return null;
  const files = listOf(item["changes"]).map((change) => {
    const { path, kind, diff } = fieldsOf(change);
    const { type, move_path: moved } = fieldsOf(kind);
    return {
      text: `${textOf(type) ?? "change"} ${textOf(path) ?? "a file"}\n${textOf(diff) ?? ""}`.trimEnd(),
      paths: [textOf(path), textOf(moved)].filter((one) => one !== null),
    };
  });
  const text = textOf(files.map((file) => file.text).join("\n"));
  return text === null ? null : { text, paths: files.flatMap((file) => file.paths) };
}

/** What an item said that it would change. */
export interface PlannedChange {
  readonly text: string;
  readonly paths: readonly string[];
}
