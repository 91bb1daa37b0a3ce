/**
 * Model and tokens in responses of the Messages API: `message_start` has the model and the input, `message_delta` the
 * output so far, and in recent versions the input again. Cached tokens are counted beside `input_tokens`.
 */
import { type Fields, fieldsOrNull, textIn } from "../../platform/json-fields.ts";
import type { TokenUsage, UsageReport } from "../../session/model-call.ts";

export function readResponseUsage(event: Fields): UsageReport | null {
  switch (textIn(event, "type")) {
    case "message_start": {
      const message = fieldsOrNull(event["message"]);
      return { model: textIn(message, "model"), usage: usageOf(message), isFinal: false };
    }
    case "message_delta":
      return { model: null, usage: usageOf(event), isFinal: false };
    case "message":
      return { model: textIn(event, "model"), usage: usageOf(event), isFinal: true };
    default:
      return null;
  }
}

function usageOf(fields: Fields | null): TokenUsage | null {
  const usage = fieldsOrNull(fields?.["usage"]);
  if (usage === null) return null;
  const count = (name: string): number | null => (typeof usage[name] === "number" ? usage[name] : null);
  const input = count("input_tokens");
  const cached = count("cache_read_input_tokens");
  return {
    input_tokens: input === null ? null : input + (cached ?? 0) + (count("cache_creation_input_tokens") ?? 0),
    output_tokens: count("output_tokens"),
    cached_tokens: cached,
  };
}
