/**
 * Turns what a raw terminal sends into keys. Input may be cut anywhere, so a
 * sequence that is not complete yet is kept. An escape character alone may be
 * the Esc key or the beginning of a sequence: so the caller calls `flush` when
 * nothing has followed for a while.
 */
export type Key =
  | { readonly type: "text"; readonly text: string }
  /** All of one bracketed paste, lines ended by \n. */
  | { readonly type: "paste"; readonly text: string; readonly cut: boolean }
  | { readonly type: "enter" | "escape" | "interrupt" | "end-of-input" | "backspace" | "kill-line" };

export interface KeyDecoder {
  push(input: string): Key[];
  /** Whether the beginning of a sequence is waiting for more. */
  readonly undecided: boolean;
  flush(): Key[];
}

/** A paste is kept up to here; one without an end must not fill the memory. */
export const PASTE_LIMIT = 8 * 1024 * 1024;

const PASTE_END = "\x1b[201~";

/** No real sequence is longer; what is, is noise. */
const SEQUENCE_LIMIT = 64;

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const SPECIAL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;

const CONTROL_KEYS: Readonly<Record<string, Exclude<Key["type"], "text" | "paste">>> = {
  "\r": "enter",
  "\x03": "interrupt",
  "\x04": "end-of-input",
  "\x08": "backspace",
  "\x7f": "backspace",
  "\x15": "kill-line",
};

export function keyDecoder(): KeyDecoder {
  let pending = "";
  let paste: { parts: string[]; length: number } | null = null;

  function push(input: string): Key[] {
    const keys: Key[] = [];
    pending += input;
    while (pending !== "") {
      if (!(paste === null ? takeKey(keys) : takePaste(keys, paste))) break;
    }
    return keys;
  }

  /** Takes one key from the front; false when it is not complete. */
  function takeKey(keys: Key[]): boolean {
    const special = pending.search(SPECIAL);
    if (special !== 0) {
      const text = special === -1 ? pending : pending.slice(0, special);
      keys.push({ type: "text", text });
      pending = pending.slice(text.length);
      return true;
    }
    if (pending.startsWith("\x1b")) return takeSequence(keys);
    const type = CONTROL_KEYS[pending.charAt(0)];
    if (type !== undefined) keys.push({ type });
    pending = pending.slice(1);
    return true;
  }

  function takeSequence(keys: Key[]): boolean {
    if (pending.length === 1) return false;
    const introducer = pending.charAt(1);
    if (introducer === "O") {
      if (pending.length === 2) return false;
      pending = pending.slice(3);
      return true;
    }
    if (introducer !== "[") {
      keys.push({ type: "escape" });
      pending = pending.slice(1);
      return true;
    }
    const sequence = /^[0-?]*[ -/]*[@-~]/.exec(pending.slice(2, 2 + SEQUENCE_LIMIT))?.[0];
    if (sequence === undefined) {
      const unfinished = /^[0-?]*[ -/]*$/.test(pending.slice(2, 2 + SEQUENCE_LIMIT));
      if (unfinished && pending.length < 2 + SEQUENCE_LIMIT) return false;
      pending = pending.slice(2);
      return true;
    }
    if (sequence === "200~") paste = { parts: [], length: 0 };
    pending = pending.slice(2 + sequence.length);
    return true;
  }

  function takePaste(keys: Key[], current: { parts: string[]; length: number }): boolean {
    const end = pending.indexOf(PASTE_END);
    // Up to the end marker, or all but what may be the marker's beginning.
    const until = end === -1 ? Math.max(0, pending.length - (PASTE_END.length - 1)) : end;
    const room = Math.max(0, PASTE_LIMIT - current.length);
    current.parts.push(pending.slice(0, Math.min(until, room)));
    current.length += until;
    if (end === -1) {
      pending = pending.slice(until);
      return false;
    }
    const text = current.parts.join("").replace(/\r\n?/g, "\n");
    keys.push({ type: "paste", text, cut: current.length > PASTE_LIMIT });
    paste = null;
    pending = pending.slice(end + PASTE_END.length);
    return true;
  }

  return {
    push,
    get undecided() {
      return paste === null && pending !== "";
    },
    flush() {
      if (paste !== null || pending === "") return [];
      const keys: Key[] = pending === "\x1b" ? [{ type: "escape" }] : [];
      pending = "";
      return keys;
    },
  };
}
