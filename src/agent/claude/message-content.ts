/** The content of a message as the Messages API has it: a text, or a list of blocks. */
import { type Fields, listIn, textIn } from "../../platform/json-fields.ts";

export function blocksOf(message: Fields | null): readonly Fields[] {
  const text = textIn(message, "content");
  return text === null ? listIn(message, "content") : [{ type: "text", text }];
}

/** All text of it; the rest (images, tool uses) left out. */
export function textContentOf(message: Fields | null): string {
  return blocksOf(message)
    .filter((block) => block["type"] === "text")
    .map((block) => textIn(block, "text") ?? "")
    .join("\n");
}
