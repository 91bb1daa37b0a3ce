/**
 * The place on an agent's screen where a message is typed: how to recognise it, whether it contains text, and which.
 * Data, in the same file as the agent's screen rules; a user's `[composer]` replaces ours.
 *
 *     [composer]
 *     bottom = 20                         # only the last lines; optional
 *     begins = '^─{20}'                   # its first line; optional. Old frames may stand above it: the last such line counts
 *     empty = ['^› ▮\n\n  .*\z']          # each must be found: the composer is there, and nothing stands in it
 *     text = '^› (.*▮.*)'                 # else: group 1 is what stands in it
 *     unless = ['^  enter submit']        # none may be found: then it is something else; optional
 *     pasted = '\[Pasted (\d+) chars\]'   # stands for a long paste; group 1, where there is one, counts its lines or characters
 *     clear = ["C-u", "BSpace"]           # clears one line; harmless where nothing stands
 *
 * They are looked for in the screen without what is drawn faint, and with ▮ for
 * the cursor (▯ where the program hides it).
 */
import { parse } from "smol-toml";
import type { Key } from "../session/input.ts";
import type { Pattern } from "./pattern.ts";
import { loadPatternCompiler } from "./pattern.ts";
import { visibleText } from "./visible-text.ts";

export interface Composer {
  readonly bottom: number | null;
  readonly begins: Pattern | null;
  readonly empty: readonly Pattern[];
  readonly unless: readonly Pattern[];
  readonly text: Pattern;
  readonly pasted: Pattern | null;
  readonly clear: readonly Key[];
}

/** `absent`: what is on the screen is not the composer, or not for certain. */
export type Standing =
  | { readonly state: "empty" }
  | { readonly state: "text"; readonly text: string }
  | { readonly state: "absent" };

export function readComposer(composer: Composer, solid: string): Standing {
  const lines = solid.split("\n");
  const region = lastFrame(composer, composer.bottom === null ? lines : lines.slice(-composer.bottom)).join("\n");
  if (composer.unless.some((pattern) => pattern.test(region))) return { state: "absent" };
  if (composer.empty.every((pattern) => pattern.test(region))) return { state: "empty" };
  const text = withoutCursor(composer.text.find(region) ?? "");
  return text.trim() === "" ? { state: "absent" } : { state: "text", text };
}

/** An agent that redraws may leave what it drew before standing above (gemini 0.61.0): the composer is the one drawn last. */
function lastFrame({ begins }: Composer, lines: readonly string[]): readonly string[] {
  if (begins === null) return lines;
  const first = lines.findLastIndex((line) => begins.test(line));
  return lines.slice(Math.max(0, first));
}

/**
 * Whether what stands in the composer is this text and nothing else, as far as
 * a screen can tell: it wraps and indents, shows only the end of what is long,
 * and a few characters differently.
 */
export function isShownAs(composer: Composer, text: string, shown: string): boolean {
  const [whole, seen] = [visibleText(text), visibleText(shown)];
  if (seen === whole) return true;
  if (isMarkerOf(composer.pasted, text, shown)) return true;
  // Scrolled to its end: more than anybody else would have written just so.
  const isLong = shown.split("\n").length >= SCROLLED_LINES || seen.length >= SCROLLED_LENGTH;
  return isLong && whole.endsWith(seen);
}

/**
 * What a terminal answers to a program that asks what it is (XTVERSION, device attributes, colours), as it looks when the
 * program no longer expects it and takes it for typed text. A tmux that hangs while an agent starts answers that late.
 */
const TERMINAL_ANSWER = String.raw`(?:>\|tmux [0-9]+\.[0-9]+[a-z]?|[?>]?[0-9]+(?:;[0-9]+)*[cu]|\]?1[01];rgb:[0-9a-f]+/[0-9a-f]+/[0-9a-f]+)+`;
const ANSWERED_BEFORE = new RegExp(`^${TERMINAL_ANSWER}`);
const ANSWERED_AFTER = new RegExp(`${TERMINAL_ANSWER}$`);

/** What may have been written there, where a terminal has answered before or after it; empty: nothing was. */
export function withoutTerminalAnswer(shown: string): readonly string[] {
  const text = shown.trim();
  return [shown, text.replace(ANSWERED_BEFORE, ""), text.replace(ANSWERED_AFTER, "")];
}

const SCROLLED_LINES = 4;
const SCROLLED_LENGTH = 200;

function isMarkerOf(pasted: Pattern | null, text: string, shown: string): boolean {
  const found = pasted?.find(shown) ?? null;
  if (pasted === null || found === null) return false;
  const isAlone = pasted.test(shown) && withoutMarker(shown).trim() === "";
  if (!isAlone) return false;
  const count = /^\d+$/.test(found) ? Number(found) : null;
  return count === null || countsOf(text).has(count);
}

/** All of them write it in brackets. */
function withoutMarker(shown: string): string {
  return shown.replace(/\[[^\]]*\]/, "");
}

function countsOf(text: string): ReadonlySet<number> {
  const lines = text.split("\n").length;
  return new Set([lines, lines - 1, text.length, Array.from(text).length, Buffer.byteLength(text)]);
}

function withoutCursor(text: string): string {
  return text.replace(/[▮▯]/u, "");
}

const FIELDS = new Set(["bottom", "begins", "empty", "unless", "text", "pasted", "clear"]);
const KEYS: readonly Key[] = ["BSpace", "C-c", "C-u", "Escape"];

/** Null where the file has none. */
export async function parseComposer(toml: string): Promise<Composer | null> {
  const { composer: table } = parse(toml);
  if (table === undefined) return null;
  if (typeof table !== "object" || table instanceof Date || Array.isArray(table))
    throw new Error("[composer] must be a table");
  const fields: Readonly<Record<string, unknown>> = table;
  const unknown = Object.keys(fields).find((key) => !FIELDS.has(key));
  if (unknown !== undefined) throw new Error(`[composer]: there is no field ${unknown}`);
  const compile = await loadPatternCompiler();
  const patterns = (key: string): readonly Pattern[] => textsIn(fields, key).map((source) => compile(source));
  const [text] = patterns("text");
  const empty = patterns("empty");
  const { bottom } = fields;
  if (text === undefined || empty.length === 0) throw new Error("[composer]: both empty and text are needed");
  if (bottom !== undefined && (typeof bottom !== "number" || bottom < 1))
    throw new Error("[composer]: bottom must be a number of lines");
  return {
    bottom: bottom ?? null,
    begins: patterns("begins")[0] ?? null,
    empty,
    unless: patterns("unless"),
    text,
    pasted: patterns("pasted")[0] ?? null,
    clear: textsIn(fields, "clear").map(keyOf),
  };
}

function keyOf(name: string): Key {
  const key = KEYS.find((known) => known === name);
  if (key === undefined) throw new Error(`[composer]: clear knows only the keys ${KEYS.join(", ")}`);
  return key;
}

function textsIn(fields: Readonly<Record<string, unknown>>, key: string): readonly string[] {
  const value = fields[key];
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map((text: unknown) => {
    if (typeof text !== "string") throw new Error(`[composer]: ${key} must be a text or a list of them`);
    return text;
  });
}
