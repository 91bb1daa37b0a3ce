/** Why a turn failed, for people: Codex passes on a server's JSON as it came (0.166.0). */
import { stripTerminal } from "../../platform/terminal-text.ts";
import { fieldsOf, parseFields, textOf } from "../../platform/json-fields.ts";

export function errorText(error: unknown): string {
  const { message, additionalDetails } = fieldsOf(error);
  const parts = [textOf(message), textOf(additionalDetails)].filter((part) => part !== null).map(unwrapped);
  return parts.length === 0 ? "Codex gave no reason." : stripTerminal(parts.join(": "));
}

function unwrapped(text: string): string {
  const inner = text.startsWith("{") ? fieldsOf(parseFields(text)?.["error"])["message"] : null;
  return textOf(inner) ?? text;
}
