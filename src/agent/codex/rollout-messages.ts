/**
 * A rollout as messages. Much is in it twice, as an event and as the
 * `response_item` that is sent to the model. Prompts are taken from events;
 * answers, calls and results are taken from response items. Reasoning is left
 * out.
 */
import { stripControls } from "../../platform/terminal-text.ts";
import type { TranscriptMessage } from "../contract.ts";
import { errorText } from "./error-text.ts";
import { type Fields, fieldsOf, isFields, listOf, parseFields, textOf } from "../../platform/json-fields.ts";
import { userPromptOf } from "./user-prompt.ts";

export function readRolloutMessages(lines: readonly string[]): readonly TranscriptMessage[] {
  const messages: TranscriptMessage[] = [];
  const tools = new Map<string, string>();
  let turn: string | null = null;
  for (const line of lines) {
    const entry = parseFields(line);
    if (entry === null) continue;
    const payload = fieldsOf(entry["payload"]);
    turn = turnOf(payload) ?? turn;
    const message = messageOf(entry, payload, tools);
    if (message === null || repeats(messages.at(-1), message)) continue;
    messages.push({ ...message, usage: null, at: textOf(entry["timestamp"]), turn });
  }
  return messages;
}

const COMPACTED = "The conversation so far was summarised.";

type Message = Pick<TranscriptMessage, "role" | "text" | "tool">;

function messageOf(entry: Fields, payload: Fields, tools: Map<string, string>): Message | null {
  if (entry["type"] === "event_msg") return eventMessage(payload);
  const message = entry["type"] === "response_item" ? itemMessage(payload, tools) : null;
  // Of a compaction the summary is for the model; it looks like an answer (0.166.0).
  const isSummary = fieldsOf(entry["metadata"])["compaction_output"] === true;
  return isSummary && message !== null ? { ...message, role: "system" } : message;
}

function eventMessage(payload: Fields): Message | null {
  switch (payload["type"]) {
    case "user_message":
    case "item_completed": {
      if (fieldsOf(payload["item"])["type"] === "ContextCompaction") return plain("system", COMPACTED);
      const prompt = userPromptOf(payload);
      return prompt === null ? null : plain("user", prompt);
    }
    case "turn_aborted":
      return plain("system", "The turn was interrupted.");
    case "task_complete": {
      const { error } = payload;
      return isFields(error) ? plain("system", `The turn failed: ${errorText(error)}`) : null;
    }
    case "context_compacted":
      return plain("system", COMPACTED);
    default:
      return null;
  }
}

function itemMessage(payload: Fields, tools: Map<string, string>): Message | null {
  const id = textOf(payload["call_id"]);
  switch (payload["type"]) {
    case "message": {
      const text = payload["role"] === "assistant" ? contentText(payload["content"]) : null;
      return text === null ? null : plain("assistant", text);
    }
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call": {
      const name = textOf(payload["name"]) ?? "shell";
      if (id !== null) tools.set(id, name);
      const input = textOf(payload["arguments"]) ?? textOf(payload["input"]) ?? jsonOf(payload["action"]);
      return { role: "assistant", text: "", tool: { id, name, input, isError: false } };
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const name = (id === null ? undefined : tools.get(id)) ?? textOf(payload["name"]) ?? "tool";
      const output = outputOf(payload["output"]);
      return {
        role: "tool",
        text: stripControls(output.text),
        tool: { id, name, input: null, isError: output.isError },
      };
    }
    default:
      return null;
  }
}

/** A text, `{"content":…,"success":false}`, a list of parts, or JSON with `metadata.exit_code` in a text (0.39). */
function outputOf(output: unknown): { readonly text: string; readonly isError: boolean } {
  if (typeof output === "string") {
    const packed = output.startsWith("{") ? parseFields(output) : null;
    const inner = packed === null ? null : textOf(packed["output"]);
    const exit = fieldsOf(packed?.["metadata"])["exit_code"] ?? /^Process exited with code (\d+)$/m.exec(output)?.[1];
    return { text: inner ?? output, isError: exit !== undefined && Number(exit) !== 0 };
  }
  if (isFields(output)) {
    const text = textOf(output["content"]) ?? contentText(output["content"]) ?? "";
    return { text, isError: output["success"] === false };
  }
  return { text: contentText(output) ?? "", isError: false };
}

function contentText(content: unknown): string | null {
  return textOf(
    listOf(content)
      .map((part) => textOf(fieldsOf(part)["text"]) ?? "")
      .join(""),
  );
}

function plain(role: TranscriptMessage["role"], text: string): Message {
  return { role, text: stripControls(text), tool: null };
}

/** Some versions write a prompt as two events, one after the other. */
function repeats(before: TranscriptMessage | undefined, message: Message): boolean {
  return message.role === "user" && before?.role === "user" && before.text === message.text;
}

function turnOf(payload: Fields): string | null {
  const passed = fieldsOf(payload["internal_chat_message_metadata_passthrough"]);
  return textOf(payload["turn_id"]) ?? textOf(passed["turn_id"]);
}

function jsonOf(value: unknown): string | null {
  return isFields(value) ? JSON.stringify(value) : null;
}
