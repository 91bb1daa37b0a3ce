/**
 * Splits terminal output into text and control sequences, which may be cut
 * anywhere between two calls. It never interprets a sequence: it only knows
 * where each one ends. Joined, the pieces are what was put in, but for
 * sequences that are longer than any real one.
 */
export interface TerminalPiece {
  /** `text`: nothing but what is shown, tabs and line feeds. `sequence`: one whole sequence, or one control character. */
  readonly kind: "text" | "sequence";
  readonly text: string;
}

export interface TerminalSplitter {
  /** A sequence that is not over yet comes with the call that ends it. */
  push(text: string): readonly TerminalPiece[];
  /** What came of the sequence that is not over; null where it is too long to be kept. */
  readonly unfinished: string | null;
}

/** A picture in a sequence has some hundred kilobytes. A longer sequence is left out, so that no program fills the memory. */
const LONGEST_SEQUENCE = 1_048_576;

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

/** What is no text; runs without it are taken whole. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

export function createTerminalSplitter(): TerminalSplitter {
  let state: State = "text";
  /** Of the sequence that is not over, what earlier calls brought; null when that is too much to keep. */
  let begun: string | null = "";

  return {
    get unfinished() {
      return begun;
    },
    push(text) {
      const pieces: TerminalPiece[] = [];
      /** Where in this text the sequence under way begins. */
      let from = 0;
      let at = 0;

      const end = (until: number): void => {
        if (begun !== null && begun.length + until - from > 0)
          pieces.push({ kind: "sequence", text: begun + text.slice(from, until) });
        begun = "";
        from = until;
      };

      while (at < text.length) {
        if (state === "text") {
          CONTROL.lastIndex = at;
          const found = CONTROL.exec(text)?.index ?? text.length;
          if (found > at) pieces.push({ kind: "text", text: text.slice(at, found) });
          if (found === text.length) break;
          from = found;
          at = found + 1;
          state = introduced(text.charCodeAt(found));
          if (state === "text") end(at);
          continue;
        }
        const code = text.charCodeAt(at);
        // A program that never ends its sequence may hide the rest of a line, not the rest of the session.
        if (code === LINE_FEED) {
          end(at);
          state = "text";
          continue;
        }
        const before: State = state;
        state = next(before, code);
        // Another one begins before this one was over.
        if (before === "string-escape" && code !== 0x5c) endBefore(at - 1);
        if (code === ESC && state === "escape") end(at);
        at += 1;
        if (state === "text") end(at);
      }
      if (state !== "text") {
        begun =
          begun === null || begun.length + text.length - from > LONGEST_SEQUENCE ? null : begun + text.slice(from);
      }
      return pieces;

      /** Its ESC may have come with the call before. */
      function endBefore(escape: number): void {
        if (escape >= from) return end(escape);
        if (begun !== null && begun.length > 1) pieces.push({ kind: "sequence", text: begun.slice(0, -1) });
        begun = "\u001b";
      }
    },
  };
}

function next(state: State, code: number): State {
  if (code === CAN || code === SUB) return "text";
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
