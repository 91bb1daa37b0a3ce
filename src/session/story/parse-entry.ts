/** An entry of a story that somebody else wrote down: taken if it is one, with its texts made safe. */
import { fieldsOf, parseFields, textIn } from "../../platform/json-fields.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { bounded, inOneLine, STORY_KINDS, STORY_SOURCES, type StoryEntry } from "./entry.ts";
import { numberOf } from "./log-part.ts";

/** Null: it is none. */
export function parseEntry(line: string): StoryEntry | null {
  const given = parseFields(line);
  const source = STORY_SOURCES.find((one) => one === given?.["source"]);
  const kind = STORY_KINDS.find((one) => one === given?.["kind"]);
  const at = Date.parse(textIn(given, "at") ?? "");
  const seq = given?.["seq"];
  if (given === null || source === undefined || kind === undefined || Number.isNaN(at)) return null;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 0) return null;
  const word = (name: string): string => inOneLine(stripTerminal(textIn(given, name) ?? ""));
  const turn = numberOf(given["turn"]);
  const text = given["text"];
  return {
    source,
    seq,
    at: new Date(at).toISOString(),
    kind,
    type: word("type"),
    turn: Number.isSafeInteger(turn) ? turn : null,
    actor: word("actor"),
    what: word("what"),
    text: typeof text === "string" ? bounded(stripTerminal(text)) : null,
    failed: given["failed"] === true,
    ms: numberOf(given["ms"]),
    data: fieldsOf(safeValue(given["data"], 0)),
  };
}

/** Nobody nests deeper than this, but somebody may try. */
const DEEPEST = 20;

function safeValue(value: unknown, depth: number): unknown {
  if (typeof value === "string") return bounded(stripTerminal(value));
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEEPEST) return null;
  if (Array.isArray(value)) return value.map((one) => safeValue(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [stripTerminal(name), safeValue(one, depth + 1)]),
  );
}
