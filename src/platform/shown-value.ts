/** Prepares a value from outside for a sentence: short, in one line, with every character visible. */
import { showHidden } from "./hidden-characters.ts";

const MOST_CHARACTERS = 60;

/** As JSON. */
export function showValue(value: unknown): string {
  return cut(visible(JSON.stringify(beginningOf(value, MOST_CHARACTERS)) ?? "nothing"));
}

/** As much of it as can be shown: each level, and each part of one, takes a character at least. */
function beginningOf(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (levels === 0) return null;
  const part = (inner: unknown): unknown => beginningOf(inner, levels - 1);
  if (Array.isArray(value)) return value.slice(0, MOST_CHARACTERS).map(part);
  const fields = Object.entries(value).slice(0, MOST_CHARACTERS);
  return Object.fromEntries(fields.map(([name, inner]) => [name, part(inner)]));
}

/** As it is, in quotation marks. */
export function showName(name: string): string {
  return `"${cut(visible(name))}"`;
}

function visible(text: string): string {
  // Of a long text only its beginning is shown, so only that is looked at.
  const beginning = text.slice(0, MOST_CHARACTERS * 4);
  const escaped = beginning.replaceAll(
    CONTROLS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return showHidden(escaped.toWellFormed());
}

function cut(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MOST_CHARACTERS ? text : `${characters.slice(0, MOST_CHARACTERS).join("")}…`;
}

// oxlint-disable-next-line no-control-regex -- those are what is looked for
const CONTROLS = /[\u0000-\u001f\u007f-\u009f]/g;
