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
import { type Fields, countIn, fieldsOf, isFields, listIn, parseFields, textIn } from "../../platform/json-fields.ts";

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
  readonly responses: readonly Fields[];
  readonly toolCalls: readonly ToolCall[];
  readonly usage: Usage | null;
  readonly model: string | null;
}

export interface ToolCall {
  readonly id: string | null;
  readonly name: string;
  readonly input: Fields;
  readonly status: string;
  readonly output: string | null;
}

/** The note that stands for every cancelled turn: Esc, a refused approval, a tool that was stopped. */
export const CANCELLED = "Request cancelled.";

export function parseTranscriptLine(line: string): TranscriptLine | null {
  const record = parseFields(line);
  if (record === null) return null;
  const to = textIn(record, "$rewindTo");
  if (to !== null) return { kind: "rewound", to };
  const message = messageOf(record);
  if (message !== null) return { kind: "message", message };
  const set = fieldsOf(record["$set"]);
  if (!Array.isArray(set["messages"])) return null;
  const messages = set["messages"].map((value) => (isFields(value) ? messageOf(value) : null));
  return { kind: "replaced", messages: messages.filter((value) => value !== null) };
}

const TYPES = ["user", "gemini", "info", "warning", "error"] as const;

function messageOf(record: Fields): GeminiMessage | null {
  const id = textIn(record, "id");
  const type = TYPES.find((known) => known === record["type"]);
  if (id === null || type === undefined) return null;
  const parts = listIn(record, "content");
  return {
    id,
    type,
    at: textIn(record, "timestamp"),
    text: textIn(record, "content") ?? shownText(record) ?? textOf(parts),
    responses: parts.map((part) => fieldsOf(part["functionResponse"])).filter((part) => textIn(part, "name") !== null),
    toolCalls: [...listIn(record, "toolCalls").map(toolCallOf), ...parts.flatMap(functionCallOf)],
    usage: usageOf(fieldsOf(record["tokens"])),
    model: textIn(record, "model"),
  };
}

/** What was typed, where more was sent: the content of files named with `@`, for one. */
function shownText(record: Fields): string | null {
  const parts = listIn(record, "displayContent");
  return parts.length === 0 ? null : textOf(parts);
}

/** Without thoughts, and without what the agent puts before the first prompt, sometimes into the same message. */
function textOf(parts: readonly Fields[]): string {
  return parts
    .filter((part) => part["thought"] !== true)
    .map((part) => textIn(part, "text") ?? "")
    .filter((text) => !/^\s*<(?:session|hook)_context>/.test(text))
    .join("");
}

function toolCallOf(call: Fields): ToolCall {
  const results = listIn(call, "result");
  return {
    id: textIn(call, "id"),
    name: textIn(call, "name") ?? "tool",
    input: fieldsOf(call["args"]),
    status: textIn(call, "status") ?? "",
    output: results.map((result) => responseText(fieldsOf(result["functionResponse"]))).join("\n"),
  };
}

/** In a history that was written again, calls stand among the parts of the message. */
function functionCallOf(part: Fields): readonly ToolCall[] {
  const call = fieldsOf(part["functionCall"]);
  const name = textIn(call, "name");
  return name === null
    ? []
    : [{ id: textIn(call, "id"), name, input: fieldsOf(call["args"]), status: "", output: null }];
}

export function responseText(response: Fields): string {
  const content = fieldsOf(response["response"]);
  return textIn(content, "output") ?? textIn(content, "error") ?? JSON.stringify(content);
}

/** Google counts cached tokens among the input, and thoughts beside the output. */
function usageOf(tokens: Fields): Usage | null {
  if (Object.keys(tokens).length === 0) return null;
  return {
    inputTokens: countIn(tokens, "input") + countIn(tokens, "tool"),
    cachedInputTokens: countIn(tokens, "cached"),
    outputTokens: countIn(tokens, "output") + countIn(tokens, "thoughts"),
    costUsd: null,
  };
}
