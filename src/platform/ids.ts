/** Ids that are short enough to type, carry no order, and hold no dot (marks are joined by dots). */
import { randomBytes, randomUUID } from "node:crypto";

/** Without look-alikes (0 o 1 l i); 30 letters. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz2345679";

/** Ten letters: 49 bits; the first is never a digit. */
export function newSessionId(): string {
  let id = "";
  while (id.length < 10) {
    for (const byte of randomBytes(16)) {
      const letter = byte < 240 ? ALPHABET[byte % ALPHABET.length] : undefined;
      if (letter === undefined || (id === "" && /[0-9]/.test(letter))) continue;
      id += letter;
      if (id.length === 10) break;
    }
  }
  return id;
}

export function newMailId(): string {
  return `mail-${newSessionId()}`;
}

/** Of mail and the answers to it. */
export function newThreadId(): string {
  return `thread-${newSessionId()}`;
}

export function newMessageId(): string {
  return `m-${randomUUID()}`;
}
