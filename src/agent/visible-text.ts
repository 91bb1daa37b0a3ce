/**
 * The part of a text that can be compared with a screen: letters, digits and
 * printable ASCII. Blanks change with wrapping and indenting, frames belong to
 * the agent, and the rest (emoji, marks, zero-width characters, also where
 * these are shown as `<U+200B>`) is not drawn the same everywhere.
 */
import { SHOWN_HIDDEN } from "../platform/hidden-characters.ts";

export function visibleText(text: string): string {
  return text.replaceAll(SHOWN_HIDDEN, "").replaceAll(/[^\p{L}\p{N}\u0021-\u007e]/gu, "");
}
