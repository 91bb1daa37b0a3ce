// The OpenAI Responses API: codex.

import type { Answer, Asked, ToolCall, Usage } from "./conversation.ts";
import type { Dialect, Speech } from "./dialect.ts";
import { event } from "./dialect.ts";
import { newId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import { refuseResponse, usedOfResponse } from "./responses-refusal.ts";
import { readResponsesRequest } from "./responses-request.ts";

export const responsesApi: Dialect = {
  api: "responses",
  read: readResponsesRequest,
  refuse: refuseResponse,
  used: usedOfResponse,
  speak,
  whole: (answer, asked) => {
    const items = answer.text === "" ? [] : [messageItem(newId("msg"), "completed", answer.text)];
    const output = [...items, ...answer.calls.map((call) => callItem(call, asked))];
    return { ...envelope(newId("resp"), asked, "completed"), output, usage: usageOf(answer.usage) };
  },
  error: (status, message) => ({
    error: { message, type: errorType(status), param: null, code: status === 429 ? "rate_limit_exceeded" : null },
  }),
};

function speak(answer: Answer, asked: Asked): Speech {
  const id = newId("resp");
  const itemId = newId("msg");
  let sequence = 0;
  let said = "";
  const send = (name: string, data: JsonObject): string => event(name, { sequence_number: sequence++, ...data });
  const place = { item_id: itemId, output_index: 0, content_index: 0 };
  const finishMessage = (): string =>
    send("response.output_text.done", { ...place, text: said }) +
    send("response.content_part.done", { ...place, part: textPart(said) }) +
    send("response.output_item.done", { output_index: 0, item: messageItem(itemId, "completed", said) });
  const finishCall = (call: ToolCall, index: number): string => {
    const item = callItem(call, asked);
    const output_index = (said === "" ? 0 : 1) + index;
    return (
      send("response.output_item.added", { output_index, item }) +
      send("response.output_item.done", { output_index, item })
    );
  };
  return {
    open: () =>
      send("response.created", { response: envelope(id, asked, "in_progress") }) +
      send("response.in_progress", { response: envelope(id, asked, "in_progress") }),
    text: (piece) => {
      const start =
        said === ""
          ? send("response.output_item.added", { output_index: 0, item: messageItem(itemId, "in_progress") }) +
            send("response.content_part.added", { ...place, part: textPart("") })
          : "";
      said += piece;
      return start + send("response.output_text.delta", { ...place, delta: piece });
    },
    close: () => {
      const items = said === "" ? [] : [messageItem(itemId, "completed", said)];
      const output = [...items, ...answer.calls.map((call) => callItem(call, asked))];
      return (
        (said === "" ? "" : finishMessage()) +
        answer.calls.map(finishCall).join("") +
        send("response.completed", {
          response: { ...envelope(id, asked, "completed"), output, usage: usageOf(answer.usage) },
        })
      );
    },
  };
}

function envelope(id: string, asked: Asked, status: "in_progress" | "completed"): JsonObject {
  return { id, object: "response", created_at: Math.floor(Date.now() / 1000), status, model: asked.model, output: [] };
}

function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [] };
}

function messageItem(id: string, status: "in_progress" | "completed", text?: string): JsonObject {
  return { id, type: "message", status, role: "assistant", content: text === undefined ? [] : [textPart(text)] };
}

function callItem(call: ToolCall, asked: Asked): JsonObject {
  const base = { id: newId("fc"), call_id: call.id, status: "completed" };
  if (call.name === "local_shell")
    return { ...base, type: "local_shell_call", action: { type: "exec", ...(call.input as JsonObject) } };
  const namespace = asked.namespaces?.find((one) => call.name.startsWith(`${one}__`));
  const name = namespace === undefined ? call.name : call.name.slice(namespace.length + 2);
  const named = namespace === undefined ? { name } : { namespace, name };
  return { ...base, type: "function_call", ...named, arguments: JSON.stringify(call.input) };
}

function usageOf(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  };
}

function errorType(status: number): string {
  if (status === 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "server_error";
}
