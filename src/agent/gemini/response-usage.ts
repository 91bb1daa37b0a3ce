/**
 * Model and tokens in responses of generateContent and streamGenerateContent: each event has `usageMetadata` with what
 * was counted so far. With a Google log-in the same stands inside `response`. The prompt's count includes cached tokens.
 */
import { type Fields, fieldsOrNull, textIn } from "../../platform/json-fields.ts";
import type { UsageReport } from "../../session/model-call.ts";

export function readResponseUsage(event: Fields): UsageReport | null {
  const response = fieldsOrNull(event["response"]) ?? event;
  const usage = fieldsOrNull(response["usageMetadata"]);
  const model = textIn(response, "modelVersion");
  if (usage === null) return model === null ? null : { model, usage: null, isFinal: false };
  const count = (name: string): number | null => (typeof usage[name] === "number" ? usage[name] : null);
  const [answer, thoughts] = [count("candidatesTokenCount"), count("thoughtsTokenCount")];
  return {
    model,
    usage: {
      input_tokens: count("promptTokenCount"),
      output_tokens: answer === null && thoughts === null ? null : (answer ?? 0) + (thoughts ?? 0),
      cached_tokens: count("cachedContentTokenCount"),
    },
    isFinal: false,
  };
}
