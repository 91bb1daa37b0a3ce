/** What an event holds, as everybody outside sees it: the API, and the files of a session (docs/spec/events.md). */
import { iso } from "../platform/instant.ts";
import { stripTerminal } from "../platform/terminal-text.ts";

/** Snake_case names, no escape sequence in any text. */
export function shownData(data: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]: [string, unknown]) => [
      snakeCase(key),
      isInstant(key, value) ? iso(value) : safeValue(value),
    ]),
  );
}

function isInstant(key: string, value: unknown): value is number {
  return typeof value === "number" && /(?:^at|At)$/.test(key);
}

function safeValue(value: unknown): unknown {
  if (typeof value === "string") return stripTerminal(value);
  if (Array.isArray(value)) return value.map(safeValue);
  return typeof value === "object" && value !== null ? shownData(value) : value;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
