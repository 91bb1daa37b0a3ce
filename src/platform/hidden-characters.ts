/**
 * Makes visible the characters that show nothing or change how others are
 * shown: zero-width, bidirectional, tags and fillers. With them one command can
 * look like another, or contain text that only a machine reads. They are kept
 * inside an emoji and between the letters of scripts that join.
 */

/** Each as `<U+202E>`. */
export function showHidden(text: string): string {
  return replaceHidden(text, (character) => `<U+${codeOf(character)}>`);
}

/** For comparing, and for counting columns. */
export function dropHidden(text: string): string {
  return replaceHidden(text, () => "");
}

/** JSON that says the same, and shows it. */
export function escapeHidden(json: string): string {
  return replaceHidden(json, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at))}`).join(""),
  );
}

/** How `showHidden` writes them. */
export const SHOWN_HIDDEN = /<U\+[0-9A-F]{4,6}>/g;

/** Unicode's "default ignorable" code points, the separators of lines and paragraphs, and the marks of annotations. */
const HIDDEN = String.raw`[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]`;
const PICTURE = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?`;
/** Of the scripts whose letters change with their neighbours: Persian writes a zero-width non-joiner inside words. */
const JOINING = String.raw`[[\p{L}\p{M}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Han}${HIDDEN}]]`;

/** What is kept whole, before what is hidden. */
const KEPT = [
  String.raw`${PICTURE}(?:\u200d${PICTURE})*`,
  // The keys 0️⃣ to 9️⃣, and symbols drawn as text or as an emoji.
  String.raw`[0-9#*]\ufe0f\u20e3`,
  String.raw`[\p{S}--\p{ASCII}][\ufe0e\ufe0f]`,
  // Another form of the same ideograph.
  String.raw`\p{Script=Han}[\ufe00-\ufe02\u{e0100}-\u{e01ef}]`,
  String.raw`(?<=${JOINING})[\u200c\u200d](?=${JOINING})`,
].join("|");

const ANY_HIDDEN = new RegExp(HIDDEN, "u");
/** Made when it is needed: the sets of characters in it take milliseconds. */
let keptOrHidden: RegExp | null = null;

function replaceHidden(text: string, write: (character: string) => string): string {
  if (!ANY_HIDDEN.test(text)) return text;
  keptOrHidden ??= new RegExp(`(${KEPT})|${HIDDEN}`, "gv");
  return text.replaceAll(keptOrHidden, (match: string, kept: string | undefined) => kept ?? write(match));
}

function codeOf(character: string): string {
  return hex(character.codePointAt(0) ?? 0).toUpperCase();
}

function hex(code: number): string {
  return code.toString(16).padStart(4, "0");
}
