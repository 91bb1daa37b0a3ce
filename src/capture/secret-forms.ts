/**
 * A secret is written in several ways: in JSON, in JSON that is a string of
 * other JSON, and in the query of a URL. Most secrets look the same in all.
 */

/** The secret as it is, then as it is written elsewhere; without doubles. */
export function formsOf(secret: string): readonly string[] {
  if (secret === "") return [];
  const inJson = JSON.stringify(secret).slice(1, -1);
  const percent = percentEncoded(secret);
  const forms = [
    secret,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    // What other languages' libraries escape, too: slashes, what HTML minds, everything beyond ASCII.
    inJson.replaceAll("/", "\\/"),
    inJson.replaceAll(/[<>&]/g, unicodeEscape),
    inJson.replaceAll(/[\u007f-\uffff]/g, unicodeEscape),
    percent,
    percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    percent.replaceAll("%20", "+"),
  ];
  return [...new Set(forms)];
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A lone surrogate has no such form. */
function percentEncoded(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret;
  }
}
