/**
 * Turns what a terminal in raw mode sends into keys. Input may be cut anywhere,
 * so a sequence that is not complete yet is kept. Esc alone may be the key or
 * the beginning of a sequence: only time can tell, so the caller calls `flush`
 * when nothing has followed for a while.
 */
export type Key =
  | { readonly type: "text"; readonly text: string }
  /** All of one bracketed paste, in one line: a line end in it must not send anything. */
  | { readonly type: "paste"; readonly text: string }
  | { readonly type: NamedKey };

export type NamedKey =
  | "enter"
  | "escape"
  | "tab"
  | "back-tab"
  | "backspace"
  | "delete"
  | "up"
  | "down"
  | "left"
  | "right"
  | "home"
  | "end"
  | "page-up"
  | "page-down"
  | "interrupt"
  | "end-of-input"
  | "suspend"
  | "redraw"
  | "kill-line"
  | "kill-word";

export interface KeyDecoder {
  push(input: string): readonly Key[];
  /** Whether the beginning of a sequence waits for more. */
  isUndecided(): boolean;
  flush(): readonly Key[];
}

const CONTROLS: Readonly<Record<string, NamedKey>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\u0001": "home",
  "\u0003": "interrupt",
  "\u0004": "end-of-input",
  "\u0005": "end",
  "\u0008": "backspace",
  "\u000C": "redraw",
  "\u000E": "down",
  "\u0010": "up",
  "\u0015": "kill-line",
  "\u0017": "kill-word",
  "\u001A": "suspend",
  "\u007F": "backspace",
};

const SEQUENCES: Readonly<Record<string, NamedKey>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  Z: "back-tab",
  "1~": "home",
  "7~": "home",
  "4~": "end",
  "8~": "end",
  "3~": "delete",
  "5~": "page-up",
  "6~": "page-down",
};

const PASTE_BEGIN = "200~";
const PASTE_END = "\u001B[201~";
/** A report of the mouse, if a program before us left that on: three characters follow, and none of them is a key. */
const OLD_MOUSE = "\u001B[M";
/** A paste without an end must not fill the memory. */
const MOST_PASTED = 1_048_576;
/** No real sequence is longer. */
const LONGEST_SEQUENCE = 32;

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function createKeyDecoder(): KeyDecoder {
  let pending = "";
  let paste: string | null = null;

  /** One key from the front; null when it is not complete, no key when it means nothing here. */
  function take(): readonly Key[] | null {
    if (paste !== null) return takePaste(paste);
    const first = pending.charAt(0);
    if (first === "\u001B") return takeSequence();
    const control = pending.search(CONTROL);
    const length = control === -1 ? pending.length : Math.max(1, control);
    const text = pending.slice(0, length);
    pending = pending.slice(length);
    if (control !== 0) return [{ type: "text", text }];
    const type = CONTROLS[first];
    return type === undefined ? [] : [{ type }];
  }

  function takeSequence(): readonly Key[] | null {
    if (pending.startsWith(OLD_MOUSE)) return takeOldMouse();
    const match = /^\u001b(?:\[([0-?]*[ -/]*[@-~])|O(.))/.exec(pending);
    if (match !== null) {
      pending = pending.slice(match[0].length);
      const sequence = match[1] ?? match[2] ?? "";
      if (sequence === PASTE_BEGIN) paste = "";
      // With Shift, Alt or Ctrl it is the same key to us.
      const type = SEQUENCES[sequence.replace(/^1;[0-9]+(?=[A-Z]$)/, "").replace(/;[0-9]+(?=~$)/, "")];
      return type === undefined ? [] : [{ type }];
    }
    const mayGoOn = /^\u001b(?:$|\[[0-?]*[ -/]*$|O$)/.test(pending) && pending.length <= LONGEST_SEQUENCE;
    if (mayGoOn) return null;
    pending = pending.slice(1);
    return [{ type: "escape" }];
  }

  function takeOldMouse(): readonly Key[] | null {
    const length = OLD_MOUSE.length + 3;
    if (pending.length < length) return null;
    pending = pending.slice(length);
    return [];
  }

  function takePaste(before: string): readonly Key[] | null {
    const end = pending.indexOf(PASTE_END);
    const until = end === -1 ? Math.max(0, pending.length - PASTE_END.length + 1) : end;
    const whole = (before + pending.slice(0, until)).slice(0, MOST_PASTED);
    pending = pending.slice(end === -1 ? until : end + PASTE_END.length);
    paste = end === -1 ? whole : null;
    return end === -1 ? null : [{ type: "paste", text: whole }];
  }

  return {
    push(input) {
      pending += input;
      const keys: Key[] = [];
      while (pending !== "") {
        const taken = take();
        if (taken === null) break;
        keys.push(...taken);
      }
      return keys;
    },
    isUndecided: () => paste === null && pending !== "",
    flush() {
      if (paste !== null || pending === "") return [];
      const isEscape = pending === "\u001B";
      pending = "";
      return isEscape ? [{ type: "escape" }] : [];
    },
  };
}
