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
  const known = NAMES.get(name);
  if (known !== undefined) return known;
  const shown = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (NAMES.size < MOST_NAMES) NAMES.set(name, shown);
  return shown;
}

/** The same few in every event; a name may also be somebody else's word. */
const NAMES = new Map<string, string>();
const MOST_NAMES = 500;
