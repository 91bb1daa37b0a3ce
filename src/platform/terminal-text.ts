/**
 * Terminal output made safe to show: no escape sequence and no control byte
 * survives, and hidden characters are shown. Only this file defines the "plain
 * text" that lists, logs and screens use. It removes sequences and never
 * interprets them.
 */
import { showHidden } from "./hidden-characters.ts";

export interface TerminalStripper {
  /** What of these bytes is plain text; sequences and characters may be split between calls. */
  push(bytes: Buffer): string;
}

export function stripTerminal(text: string): string {
  return showHidden(stripControls(text));
}

/** For what must stay as it was written, a transcript: hidden characters are still in it. */
export function stripControls(text: string): string {
  return newStripper()(text);
}

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

/**
 * `escape`: after ESC. `intermediate`: ESC followed by 0x20–0x2f, one final to
 * come. `control`: inside CSI. `string`: inside OSC, DCS, APC, PM or SOS.
 * `string-escape`: ESC inside such a string, the terminator if a backslash follows.
 */
type State = "text" | "escape" | "intermediate" | "control" | "string" | "string-escape";

const LINE_FEED = 0x0a;
const ESC = 0x1b;
const CAN = 0x18;
const SUB = 0x1a;
const BEL = 0x07;
const C1_STRING_TERMINATOR = 0x9c;

/** Anything a stripper must look at; runs without it are copied whole. */
const SUSPECT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

function newStripper(): (text: string) => string {
  let state: State = "text";
  return (text) => {
    if (state === "text" && !SUSPECT.test(text)) return text;
    let plain = "";
    let runStart = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const before: State = state;
      state = next(before, code);
      const isKept = (before === "text" || code === LINE_FEED) && state === "text" && !isUnsafe(code);
      if (isKept) continue;
      plain += text.slice(runStart, at);
      runStart = at + 1;
    }
    return plain + text.slice(runStart);
  };
}

function next(state: State, code: number): State {
  // A program that never ends its sequence may hide the rest of a line, not the rest of the session.
  if (code === LINE_FEED || code === CAN || code === SUB) return "text";
  switch (state) {
    case "text":
      return introduced(code);
    case "escape":
      return afterEscape(code);
    case "intermediate":
      if (code === ESC) return "escape";
      return code >= 0x30 && code !== 0x7f ? "text" : "intermediate";
    case "control":
      if (code === ESC) return "escape";
      return code >= 0x40 && code !== 0x7f ? "text" : "control";
    case "string":
      if (code === ESC) return "string-escape";
      return code === BEL || code === C1_STRING_TERMINATOR ? "text" : "string";
    case "string-escape":
      return code === 0x5c ? "text" : afterEscape(code);
  }
}

/** C1 characters introduce sequences by themselves; the rest of C1 stands alone. */
function introduced(code: number): State {
  if (code === ESC) return "escape";
  if (code === 0x9b) return "control";
  return code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f ? "string" : "text";
}

function afterEscape(code: number): State {
  if (code === ESC) return "escape";
  if (code === 0x5b) return "control";
  if (code === 0x50 || code === 0x58 || code === 0x5d || code === 0x5e || code === 0x5f) return "string";
  if (code >= 0x20 && code <= 0x2f) return "intermediate";
  return code < 0x20 || code === 0x7f ? "escape" : "text";
}

function isUnsafe(code: number): boolean {
  if (code < 0x20) return code !== 0x0a && code !== 0x09;
  return code >= 0x7f && code <= 0x9f;
}
