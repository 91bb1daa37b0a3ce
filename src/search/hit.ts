/** Where in a text the clauses of a search are, how well they fit, and what is shown of it. Pure. */
import type { Clause } from "./query.ts";
import { type Word, wordsOf } from "./words.ts";

export type Range = readonly [start: number, end: number];

export interface Excerpt {
  /** One line around the first place where most of it is. */
  readonly text: string;
  /** Of what was looked for, in that line. */
  readonly hits: readonly Range[];
}

/** Shown before and after the hit. */
const BEFORE = 60;
const LONGEST_EXCERPT = 240;

export function hitsIn(text: string, clauses: readonly Clause[]): readonly (readonly Range[])[] {
  const words = [...wordsOf(text)];
  return clauses.map((clause) => placesOf(words, clause));
}

function placesOf(words: readonly Word[], { tokens, isPrefix }: Clause): readonly Range[] {
  const last = tokens.length - 1;
  const fits = (word: Word | undefined, index: number): boolean => {
    const token = tokens[index] ?? "";
    return word !== undefined && (word.token === token || (isPrefix && index === last && word.token.startsWith(token)));
  };
  const places: Range[] = [];
  for (let at = 0; at + last < words.length; at += 1) {
    if (!tokens.every((_token, index) => fits(words[at + index], index))) continue;
    places.push([words[at]?.start ?? 0, words[at + last]?.end ?? 0]);
    at += last;
  }
  return places;
}

/** Between 0 and 2 for each clause: more and nearer occurrences count more, and one that is exactly as it was typed. */
export function scoreOf(text: string, clauses: readonly Clause[]): number {
  const lengthPart = 0.25 + 0.75 * (text.length / TYPICAL_LENGTH);
  return clauses.reduce((sum, clause) => {
    const count = Math.min(occurrences(text, clause.typed), 50);
    const isExact = count > 0;
    // One that is there only in another case or with other accents counts once.
    const frequency = Math.max(1, count);
    return sum + frequency / (frequency + 1.2 * lengthPart) + (isExact ? 0.5 : 0);
  }, 0);
}

const TYPICAL_LENGTH = 600;

function occurrences(text: string, typed: string): number {
  let count = 0;
  if (typed === "") return 0;
  for (let at = text.indexOf(typed); at !== -1 && count < 50; at = text.indexOf(typed, at + typed.length)) count += 1;
  return count;
}

export function excerptOf(text: string, clauses: readonly Clause[]): Excerpt {
  const places = hitsIn(text, clauses);
  const all = places.flat().toSorted(([one], [other]) => one - other);
  const first = all.find(([start]) => places.every((some) => some.some(([at]) => isNear(start, at)))) ?? all[0];
  const from = edgeBefore(text, Math.max(0, (first?.[0] ?? 0) - BEFORE));
  const to = edgeAfter(text, Math.min(text.length, Math.max(from + LONGEST_EXCERPT, first?.[1] ?? 0)));
  const shown = all.filter(([start, end]) => start >= from && end <= to);
  return inOneLine(text, from, to, shown);
}

function isNear(start: number, at: number): boolean {
  return at >= start && at < start + LONGEST_EXCERPT - BEFORE;
}

/** Not inside a word or a character, where there is a gap near. */
function edgeBefore(text: string, at: number): number {
  if (at === 0) return 0;
  const gap = text.slice(at, at + 20).search(/\s/);
  return gap === -1 ? wholeCharacter(text, at) : at + gap + 1;
}

function edgeAfter(text: string, at: number): number {
  if (at === text.length) return at;
  const gap = text.slice(Math.max(0, at - 20), at).search(/\s\S*$/);
  return gap === -1 ? wholeCharacter(text, at) : Math.max(0, at - 20) + gap;
}

function wholeCharacter(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}

/** Line breaks and runs of blanks become one blank; the ranges follow. */
function inOneLine(text: string, from: number, to: number, hits: readonly Range[]): Excerpt {
  let line = from > 0 ? "… " : "";
  const moved = new Map<number, number>();
  const wanted = new Set(hits.flat());
  for (let at = from; at <= to; at += 1) {
    if (wanted.has(at)) moved.set(at, line.length);
    if (at === to) break;
    const letter = text[at] ?? "";
    if (!/\s/.test(letter)) line += letter;
    else if (!line.endsWith(" ")) line += " ";
  }
  const place = (at: number): number => moved.get(at) ?? line.length;
  const shown = hits.map(([start, end]): Range => [place(start), place(end)]);
  return { text: line.trimEnd() + (to < text.length ? " …" : ""), hits: shown };
}
