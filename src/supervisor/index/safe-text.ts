/**
 * Takes secrets out of a text before it reaches the index. Of a session whose
 * environment is known, these are its values. The environment of a process that
 * ended before this daemon began is not known to anybody any more; then every
 * word that could be a secret is taken out, and what tools printed is left out
 * as a whole. That happens when the index is built anew.
 */
import { REDACTED, redact } from "../../capture/redaction.ts";
import { stripControls } from "../../platform/terminal-text.ts";

/** Longer messages are found by their beginning. */
export const MOST_CHARACTERS = 32_768;
/** So that a secret at the edge is seen whole. */
const BEYOND = 4_096;
/** A number in it, or letters of both cases in the middle of it; not a date, a path's part or a plain number. */
const COULD_BE_SECRET =
  /(?<![A-Za-z0-9])(?=[^\s/"'`,;()]{0,200}[0-9])(?=[^\s/"'`,;()]{0,200}[A-Za-z])[A-Za-z0-9][^\s/"'`,;()[\]{}<>]{7,}/g;

export interface SafeText {
  /** False: what tools printed may not be written. */
  readonly isKnown: boolean;
  of(text: string): string;
}

export function safeText(secrets: readonly string[] | null, others: readonly string[]): SafeText {
  const values = secrets ?? others;
  return {
    isKnown: secrets !== null,
    of(text) {
      const safe = redact(stripControls(text.slice(0, MOST_CHARACTERS + BEYOND)), values);
      const cut = safe.slice(0, MOST_CHARACTERS);
      return secrets === null ? cut.replace(COULD_BE_SECRET, REDACTED) : cut;
    },
  };
}
