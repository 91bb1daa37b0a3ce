// The Anthropic Messages API: Claude Code.

import type { Answer, Asked, Usage } from "./conversation.ts";
import type { Dialect, Speech } from "./dialect.ts";
import { event } from "./dialect.ts";
import { newId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import { refuseMessage, usedOfMessage } from "./messages-refusal.ts";
import { readMessagesRequest } from "./messages-request.ts";

export const messagesApi: Dialect = {
  api: "messages",
  read: readMessagesRequest,
  refuse: refuseMessage,
  used: usedOfMessage,
  speak,
  whole: (answer, asked) => ({
    ...envelope(asked, answer.usage),
    content: [
      ...(answer.text === "" ? [] : [{ type: "text", text: answer.text }]),
      ...answer.calls.map((call) => ({ type: "tool_use", ...call })),
    ],
    stop_reason: stopReason(answer),
  }),
  error: (status, message) => ({
    type: "error",
    error: { type: errorType(status), message },
    request_id: newId("req"),
  }),
};

function speak(answer: Answer, asked: Asked): Speech {
  let index = -1;
  const started = { ...answer.usage, output: 1 };
  const stopBlock = (): string => event("content_block_stop", { index });
  return {
    open: () => event("message_start", { message: envelope(asked, started) }),
    text: (piece) => {
      const first = index < 0;
      if (first) index = 0;
      return (
        (first ? event("content_block_start", { index, content_block: { type: "text", text: "" } }) : "") +
        event("content_block_delta", { index, delta: { type: "text_delta", text: piece } })
      );
    },
    close: () => {
      let frames = index < 0 ? "" : stopBlock();
      for (const { id, name, input } of answer.calls) {
        index += 1;
        frames += event("content_block_start", { index, content_block: { type: "tool_use", id, name, input: {} } });
        frames += event("content_block_delta", {
          index,
          delta: { type: "input_json_delta", partial_json: JSON.stringify(input) },
        });
        frames += stopBlock();
      }
      return (
        frames +
        event("message_delta", {
          delta: { stop_reason: stopReason(answer), stop_sequence: null },
          usage: usageOf(answer.usage),
        }) +
        event("message_stop", {})
      );
    },
  };
}

function envelope(asked: Asked, usage: Usage): JsonObject {
  return {
    id: newId("msg"),
    type: "message",
    role: "assistant",
    model: asked.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf(usage),
  };
}

function stopReason(answer: Answer): string {
  return answer.calls.length === 0 ? "end_turn" : "tool_use";
}

function usageOf(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: usage.output,
  };
}

function errorType(status: number): string {
  const types: Readonly<Record<number, string>> = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  return types[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
}
