/**
 * The lines of a conversation file, `tmp/<project>/chats/session-<minute>-<id8>.jsonl`.
 * It is a log of operations, appended to and never rewritten (0.61.0):
 *
 *   {"sessionId": …, "projectHash": …, "startTime": …, "kind": "main"}     first line
 *   {"id": …, "timestamp": …, "type": "user" | "gemini" | "info" | "warning" | "error", "content": …}
 *   {"$set": {"messages": […]}}       replaces all messages so far
 *   {"$set": {"lastUpdated": …}}      and other fields of the conversation
 *   {"$rewindTo": "<id>"}             removes that message and all after it
 *
 * A message with an id that came before replaces it: a gemini message comes
 * again with `toolCalls` once its tools have run.
 */
import type { Usage } from "../../session/reading.ts";
import { countAt, isRecord, type JsonRecord, listAt, parseRecord, recordAt, textAt } from "./json-value.ts";

export type TranscriptLine =
  | { readonly kind: "message"; readonly message: GeminiMessage }
  | { readonly kind: "replaced"; readonly messages: readonly GeminiMessage[] }
  | { readonly kind: "rewound"; readonly to: string };

export interface GeminiMessage {
  readonly id: string;
  readonly type: "user" | "gemini" | "info" | "warning" | "error";
  readonly at: string | null;
  readonly text: string;
  /** Results that the agent gave to the model, by tool. */
  readonly responses: readonly JsonRecord[];
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage | null;
}

export interface ToolCall {
  readonly id: string | null;
  readonly name: string;
  readonly input: JsonRecord;
  readonly status: string;
  readonly output: string | null;
}

/** The note that stands for every cancelled turn: Esc, a refused approval, a tool that was stopped. */
export const CANCELLED = "Request cancelled.";

export function parseTranscriptLine(line: string): TranscriptLine | null {
  const record = parseRecord(line);
  if (record === null) return null;
  const to = textAt(record, "$rewindTo");
  if (to !== null) return { kind: "rewound", to };
  const message = messageOf(record);
  if (message !== null) return { kind: "message", message };
  const set = recordAt(record, "$set");
  if (!Array.isArray(set["messages"])) return null;
  const messages = set["messages"].map((value) => (isRecord(value) ? messageOf(value) : null));
  return { kind: "replaced", messages: messages.filter((value) => value !== null) };
}

const TYPES = ["user", "gemini", "info", "warning", "error"] as const;

function messageOf(record: JsonRecord): GeminiMessage | null {
  const id = textAt(record, "id");
  const type = TYPES.find((known) => known === record["type"]);
  if (id === null || type === undefined) return null;
  const parts = listAt(record, "content").filter(isRecord);
  return {
    id,
    type,
    at: textAt(record, "timestamp"),
    text: textAt(record, "content") ?? shownText(record) ?? textOf(parts),
    responses: parts.map((part) => recordAt(part, "functionResponse")).filter((part) => textAt(part, "name") !== null),
    toolCalls: [...listAt(record, "toolCalls").filter(isRecord).map(toolCallOf), ...parts.flatMap(functionCallOf)],
    usage: usageOf(recordAt(record, "tokens")),
  };
}

/** What was typed, where more was sent: the content of files named with `@`, for one. */
function shownText(record: JsonRecord): string | null {
  const parts = listAt(record, "displayContent").filter(isRecord);
  return parts.length === 0 ? null : textOf(parts);
}

/** Without thoughts, and without what the agent puts before the first prompt, sometimes into the same message. */
function textOf(parts: readonly JsonRecord[]): string {
  return parts
    .filter((part) => part["thought"] !== true)
    .map((part) => textAt(part, "text") ?? "")
    .filter((text) => !/^\s*<(?:session|hook)_context>/.test(text))
    .join("");
}

function toolCallOf(call: JsonRecord): ToolCall {
  const results = listAt(call, "result").filter(isRecord);
  return {
    id: textAt(call, "id"),
    name: textAt(call, "name") ?? "tool",
    input: recordAt(call, "args"),
    status: textAt(call, "status") ?? "",
    output: results.map((result) => responseText(recordAt(result, "functionResponse"))).join("\n"),
  };
}

/** In a history that was written again, calls stand among the parts of the message. */
function functionCallOf(part: JsonRecord): readonly ToolCall[] {
  const call = recordAt(part, "functionCall");
  const name = textAt(call, "name");
  return name === null
    ? []
    : [{ id: textAt(call, "id"), name, input: recordAt(call, "args"), status: "", output: null }];
}

export function responseText(response: JsonRecord): string {
  const content = recordAt(response, "response");
  return textAt(content, "output") ?? textAt(content, "error") ?? JSON.stringify(content);
}

/** Google counts cached tokens among the input, and thoughts beside the output. */
function usageOf(tokens: JsonRecord): Usage | null {
  if (Object.keys(tokens).length === 0) return null;
  return {
    inputTokens: countAt(tokens, "input") + countAt(tokens, "tool"),
    cachedInputTokens: countAt(tokens, "cached"),
    outputTokens: countAt(tokens, "output") + countAt(tokens, "thoughts"),
    costUsd: null,
  };
}
