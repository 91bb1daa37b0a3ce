/**
 * Terminal output made safe to show: no escape sequence and no control byte
 * survives, and hidden characters are shown. Only this file defines the "plain
 * text" that lists, logs and screens use. It removes sequences and never
 * interprets them.
 */
import { showHidden } from "./hidden-characters.ts";
import { createTerminalSplitter } from "./terminal-pieces.ts";

export interface TerminalStripper {
  /** What of these bytes is plain text; sequences and characters may be split between calls. */
  push(bytes: Buffer): string;
}

export function stripTerminal(text: string): string {
  return PLAIN.test(text) ? text : showHidden(stripControls(text));
}

/** For what must stay as it was written, a transcript: hidden characters are still in it. */
export function stripControls(text: string): string {
  return PLAIN.test(text) ? text : newStripper()(text);
}

/** Most texts are: there is nothing in them to be removed. */
const PLAIN = /^[ -~]*$/;

export function createTerminalStripper(): TerminalStripper {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const strip = newStripper();
  return { push: (bytes) => showHidden(strip(decoder.decode(bytes, { stream: true }))) };
}

/** The end of a text, at most that many bytes of UTF-8, and no character cut in two. */
export function keepTail(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  let start = encoded.length - Math.max(0, bytes);
  while (start < encoded.length && ((encoded[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return encoded.toString("utf8", start);
}

function newStripper(): (text: string) => string {
  const splitter = createTerminalSplitter();
  return (text) => {
    let plain = "";
    for (const piece of splitter.push(text)) if (piece.kind === "text") plain += piece.text;
    return plain;
  };
}
