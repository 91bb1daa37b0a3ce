/**
 * Characters that show nothing, or change how others are shown: zero-width,
 * bidirectional, tags and fillers. With them one command looks like another, or
 * says something that only a machine reads. They stay where they belong to what
 * is seen: inside an emoji, and between the letters of scripts that join.
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

const HIDDEN = String.raw`[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffb]`;
const PICTURE = String.raw`\p{Extended_Pictographic}[\ufe0e\ufe0f]?\p{Emoji_Modifier}?`;
/** Of the scripts whose letters change with their neighbours: `می‌خواهم` is written with a zero-width non-joiner. */
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

const ANY_HIDDEN = new RegExp(HIDDEN, "v");
const KEPT_OR_HIDDEN = new RegExp(`(${KEPT})|${HIDDEN}`, "gv");

function replaceHidden(text: string, write: (character: string) => string): string {
  if (!ANY_HIDDEN.test(text)) return text;
  return text.replaceAll(KEPT_OR_HIDDEN, (match: string, kept: string | undefined) => kept ?? write(match));
}

function codeOf(character: string): string {
  return hex(character.codePointAt(0) ?? 0).toUpperCase();
}

function hex(code: number): string {
  return code.toString(16).padStart(4, "0");
}
