/** One line of text being typed: what stands before the cursor and after it. Pure. */
import { dropHidden } from "../../platform/hidden-characters.ts";
import { stripControls } from "../../platform/terminal-text.ts";
import { graphemesOf } from "../cli/graphemes.ts";
import type { Key } from "./key.ts";

export interface InputLine {
  readonly before: string;
  readonly after: string;
}

export function inputLine(text = ""): InputLine {
  return { before: text, after: "" };
}

export function textOf({ before, after }: InputLine): string {
  return before + after;
}

/** Null when the key is not one for editing. */
export function edited(line: InputLine, key: Key): InputLine | null {
  const { before, after } = line;
  switch (key.type) {
    case "text":
      return { before: before + key.text, after };
    case "paste":
      return { before: before + dropHidden(stripControls(key.text.replaceAll(/\s*[\r\n]+\s*/g, " "))), after };
    case "backspace":
      return { before: before.slice(0, lastBoundary(before)), after };
    case "delete":
      return { before, after: after.slice(firstBoundary(after)) };
    case "left":
      return { before: before.slice(0, lastBoundary(before)), after: before.slice(lastBoundary(before)) + after };
    case "right":
      return { before: before + after.slice(0, firstBoundary(after)), after: after.slice(firstBoundary(after)) };
    case "home":
      return { before: "", after: before + after };
    case "end":
      return { before: before + after, after: "" };
    case "kill-line":
      return { before: "", after };
    case "kill-word":
      return { before: before.replace(/\S*\s*$/u, ""), after };
    default:
      return null;
  }
}

function firstBoundary(text: string): number {
  const [first] = graphemesOf(text);
  return first?.segment.length ?? 0;
}

function lastBoundary(text: string): number {
  return [...graphemesOf(text)].at(-1)?.index ?? 0;
}
