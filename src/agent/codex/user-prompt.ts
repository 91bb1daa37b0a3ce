/**
 * What a person (or Reeve) submitted. The rollout has it as an event; the
 * `response_item` with role user is not used, because it also holds context
 * that Codex added. `item_completed` with a UserMessage in 0.166.0,
 * `user_message` in older ones.
 */
import { type Fields, fieldsOf, listOf, textOf } from "../../platform/json-fields.ts";

export function userPromptOf(payload: Fields): string | null {
  if (payload["type"] === "user_message") return textOf(payload["message"]);
  const item = fieldsOf(payload["item"]);
  return item["type"] === "UserMessage" ? textOfInputs(item["content"]) : null;
}

/** Text of `[{"type":"text","text":…}, …]`; images and mentions are left out. */
export function textOfInputs(content: unknown): string | null {
  const texts = listOf(content).map((part) => textOf(fieldsOf(part)["text"]) ?? "");
  return textOf(texts.join(""));
}
