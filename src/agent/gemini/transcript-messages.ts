/** Turns the lines of a transcript, a log of operations, into messages for people. */
import type { ToolUse, TranscriptMessage } from "../contract.ts";
import { fieldsOf, textIn } from "../../platform/json-fields.ts";
import { type GeminiMessage, parseTranscriptLine, responseText, type ToolCall } from "./transcript-line.ts";

export function readMessages(lines: readonly string[]): readonly TranscriptMessage[] {
  const history = historyOf(lines);
  const calls = history.flatMap((message) => message.toolCalls);
  const shown = new Set(calls.filter((call) => call.output !== null).map((call) => call.id));
  return history.flatMap((message) => normalise(message, shown));
}

/** As Gemini CLI itself reads it: a history that is written again leaves out cancelled prompts and notes. */
function historyOf(lines: readonly string[]): readonly GeminiMessage[] {
  const history = new Map<string, GeminiMessage>();
  for (const line of lines) {
    const parsed = parseTranscriptLine(line);
    if (parsed === null) continue;
    switch (parsed.kind) {
      case "message":
        history.set(parsed.message.id, parsed.message);
        break;
      case "replaced":
        replace(history, parsed.messages);
        break;
      case "rewound":
        rewind(history, parsed.to);
        break;
    }
  }
  return [...history.values()];
}

function replace(history: Map<string, GeminiMessage>, messages: readonly GeminiMessage[]): void {
  const before = new Map(history);
  history.clear();
  for (const message of messages) {
    // Written again, a message may have lost what it cost and how its tools ended.
    const old = before.get(message.id);
    history.set(message.id, { ...message, usage: message.usage ?? old?.usage ?? null });
  }
}

function rewind(history: Map<string, GeminiMessage>, to: string): void {
  const ids = [...history.keys()];
  const index = ids.indexOf(to);
  for (const id of index === -1 ? ids : ids.slice(index)) history.delete(id);
}

function normalise(message: GeminiMessage, shown: ReadonlySet<string | null>): readonly TranscriptMessage[] {
  const { type, at } = message;
  switch (type) {
    case "user":
      return SUMMARY.test(message.text) ? [plain("system", message.text, at)] : userMessages(message, shown);
    case "gemini": {
      const calls = message.toolCalls.flatMap((call) => callMessages(call, at));
      if (message.text === "" && calls.length > 0) return withUsage(calls, message);
      const said = plain("assistant", message.text, at);
      return message.text === "" && message.usage === null ? calls : [{ ...said, usage: message.usage }, ...calls];
    }
    case "info":
    case "warning":
    case "error":
      return message.text === "" ? [] : [plain("system", message.text, at)];
  }
}

/** What a compression put in the place of the conversation (0.61.0). */
const SUMMARY = /^\s*<(?:scratchpad|state_snapshot)>/;

/** Results stand with the call they answer, and again in a message to the model; written again, only in the latter. */
function userMessages(message: GeminiMessage, shown: ReadonlySet<string | null>): readonly TranscriptMessage[] {
  const { text, at, responses } = message;
  const results = responses
    .filter((response) => !shown.has(textIn(response, "id")))
    .map((response) => {
      const isError = textIn(fieldsOf(response["response"]), "error") !== null;
      const tool = { id: textIn(response, "id"), name: textIn(response, "name") ?? "tool", input: null, isError };
      return { ...plain("tool", responseText(response), at), tool };
    });
  return text === "" ? results : [...results, plain("user", text, at)];
}

function callMessages(call: ToolCall, at: string | null): readonly TranscriptMessage[] {
  const tool: ToolUse = { id: call.id, name: call.name, input: JSON.stringify(call.input), isError: false };
  const asked = { ...plain("assistant", "", at), tool };
  if (call.output === null) return [asked];
  const isError = call.status !== "success";
  return [asked, { ...plain("tool", call.output, at), tool: { ...tool, input: null, isError } }];
}

function withUsage(messages: readonly TranscriptMessage[], { usage }: GeminiMessage): readonly TranscriptMessage[] {
  return messages.map((message, index) => (index === 0 ? { ...message, usage } : message));
}

function plain(role: TranscriptMessage["role"], text: string, at: string | null): TranscriptMessage {
  return { role, text, tool: null, usage: null, at, turn: null };
}
