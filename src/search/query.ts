/**
 * What a person looks for, as data, and as the words SQLite's FTS5 understands.
 * Everything that can be typed is safe: the words are taken out (words.ts), and
 * only these, quoted, reach SQLite, so no operator, column or quote of FTS5 does.
 *
 *   fix tests        both words, anywhere
 *   "fix the tests"  these words one after the other; a missing quote is added
 *   migr*            words that begin so; also at the end of a phrase
 *   foo_bar          like "foo bar"
 */
import { ReeveError } from "../platform/reeve-error.ts";
import { tokensOf } from "./words.ts";

/** Words that stand one after the other. */
export interface Clause {
  readonly tokens: readonly string[];
  /** The last of them is how a word begins. */
  readonly isPrefix: boolean;
  /** As it was typed, for a hit that is exactly so. */
  readonly typed: string;
}

/** More than a person types; FTS5 itself takes at most 256 in a row. */
const MOST_WORDS = 64;

export function parseQuery(text: string): readonly Clause[] {
  const clauses = partsOf(text).flatMap(({ typed, isPrefix }) => {
    const tokens = tokensOf(typed);
    return tokens.length === 0 ? [] : [{ tokens, isPrefix, typed }];
  });
  const count = clauses.reduce((sum, { tokens }) => sum + tokens.length, 0);
  if (count === 0)
    throw usage("nothing-to-search", "There is no word in that to look for: give at least one letter, digit or emoji.");
  if (count > MOST_WORDS)
    throw usage("search-too-long", `That is ${count} words to look for; give at most ${MOST_WORDS}.`);
  return clauses;
}

/** All clauses must be there, in any column: who asks puts the column before it, in a table that has several. */
export function matchOf(clauses: readonly Clause[]): string {
  return clauses.map(({ tokens, isPrefix }) => `"${tokens.join(" ")}"${isPrefix ? " *" : ""}`).join(" AND ");
}

interface Part {
  readonly typed: string;
  readonly isPrefix: boolean;
}

const PART = /"([^"]*)(?:"(\*?)|$)|[^\s"]+/g;

/** A phrase up to its quote, or what stands between blanks. */
function partsOf(text: string): readonly Part[] {
  const parts: Part[] = [];
  PART.lastIndex = 0;
  for (let part = PART.exec(text); part !== null; part = PART.exec(text)) {
    const [whole, phrase, star] = part;
    const typed = phrase ?? whole;
    parts.push({ typed: typed.replace(/\*+$/, ""), isPrefix: star === "*" || /[^*\s]\*+$/.test(typed) });
  }
  return parts;
}

function usage(code: string, message: string): ReeveError {
  return new ReeveError({ code, kind: "usage", message });
}
