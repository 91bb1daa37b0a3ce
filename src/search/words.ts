/**
 * How text is taken apart into words, for the index and for what is looked for
 * alike: nothing is found that is not split the same way. Pure.
 *
 *   - a word is a run of letters and digits, in lower case and without accents:
 *     `foo_bar` and `src/store/x.ts` are found by each of their parts;
 *   - of scripts that write no spaces (Chinese, Japanese, Thai, …) each letter is
 *     a word, so any part of a sentence is found;
 *   - a symbol (an emoji) is a word, named by its code point.
 *
 * SQLite's own tokenizers can do one of these each. So words are handed to it
 * joined by blanks, and it only splits at these (`tokenize='ascii'`).
 */
export interface Word {
  readonly token: string;
  /** In the text. */
  readonly start: number;
  readonly end: number;
}

/** A longer one (base64, a hash) is found by its beginning. */
const LONGEST = 64;

const UNSPACED = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
const LETTER = String.raw`\p{L}\p{M}\p{N}`;
const WORD = new RegExp(
  `[${UNSPACED}]\\p{M}*|(?:(?![${UNSPACED}])[${LETTER}])+|[\\p{So}\\p{Extended_Pictographic}]`,
  "gu",
);
const ASCII_WORD = /[A-Za-z0-9]+/g;
// eslint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

export function* wordsOf(text: string): Generator<Word> {
  const isAscii = ASCII.test(text);
  for (const { 0: word, index } of text.matchAll(isAscii ? ASCII_WORD : WORD)) {
    const token = isAscii ? word.toLowerCase().slice(0, LONGEST) : tokenOf(word);
    if (token !== "") yield { token, start: index, end: index + word.length };
  }
}

/** The same without their places, which costs less: `matchAll` makes a regular expression for each call. */
export function tokensOf(text: string): readonly string[] {
  if (!ASCII.test(text)) return (text.match(WORD) ?? []).map(tokenOf).filter((token) => token !== "");
  return (text.match(ASCII_WORD) ?? []).map((word) => word.toLowerCase().slice(0, LONGEST));
}

/** As the index takes it. */
export function indexed(text: string): string {
  return tokensOf(text).join(" ");
}

function tokenOf(word: string): string {
  if (/^[A-Za-z0-9]+$/.test(word)) return word.toLowerCase().slice(0, LONGEST);
  const folded = word
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .normalize("NFC");
  // What decomposes into several words, or into none, is taken as it is written.
  const plain = /^[\p{L}\p{N}]+$/u.test(folded) ? folded : word.toLowerCase();
  if (/^[\p{L}\p{M}\p{N}]+$/u.test(plain)) return Array.from(plain).slice(0, LONGEST).join("");
  return `symbol${(word.codePointAt(0) ?? 0).toString(16)}`;
}
