/**
 * What is left of a text when it is compared with a screen: letters, digits and
 * what ASCII can print. Blanks go with wrapping and indenting, frames are the
 * agent's own, and the rest (emoji, marks, zero-width, also where these are
 * shown as `<U+200B>`) is not drawn alike everywhere.
 */
import { SHOWN_HIDDEN } from "../platform/hidden-characters.ts";

export function visibleText(text: string): string {
  return text.replaceAll(SHOWN_HIDDEN, "").replaceAll(/[^\p{L}\p{N}\u0021-\u007e]/gu, "");
}
