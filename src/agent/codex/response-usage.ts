/**
 * Model and tokens in responses of the Responses API, over SSE and websocket alike (`response.created`,
 * `response.completed`), and of Chat Completions, which custom providers speak. `input_tokens` includes the cached ones.
 */
import { type Fields, fieldsOf, fieldsOrNull, textIn } from "../../platform/json-fields.ts";
import type { TokenUsage, UsageReport } from "../../session/model-call.ts";

export function readResponseUsage(event: Fields): UsageReport | null {
  const type = textIn(event, "type") ?? "";
  if (type.startsWith("response.")) {
    const response = fieldsOrNull(event["response"]);
    if (response === null) return null;
    const isFinal = type === "response.completed" || type === "response.incomplete" || type === "response.failed";
    return { model: textIn(response, "model"), usage: usageOf(fieldsOrNull(response["usage"])), isFinal };
  }
  const object = textIn(event, "object");
  if (object === "response" || object === "chat.completion" || object === "chat.completion.chunk")
    return {
      model: textIn(event, "model"),
      usage: usageOf(fieldsOrNull(event["usage"])),
      isFinal: object !== "chat.completion.chunk",
    };
  return null;
}

function usageOf(usage: Fields | null): TokenUsage | null {
  if (usage === null) return null;
  const details = fieldsOf(usage["input_tokens_details"] ?? usage["prompt_tokens_details"]);
  return {
    input_tokens: numberIn(usage, "input_tokens", "prompt_tokens"),
    output_tokens: numberIn(usage, "output_tokens", "completion_tokens"),
    cached_tokens: numberIn(details, "cached_tokens"),
  };
}

function numberIn(fields: Fields, ...names: readonly string[]): number | null {
  const values = names.map((name) => fields[name]);
  return values.find((value): value is number => typeof value === "number") ?? null;
}
