/** Ids that are short enough to type, carry no order, and hold no dot (marks are joined by dots). */
import { createHash, randomBytes, randomUUID } from "node:crypto";

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

export function newWorktreeId(): string {
  return `worktree-${newSessionId()}`;
}

export function newWorkId(): string {
  return `work-${newSessionId()}`;
}

/** Of a session that was brought from elsewhere, to be looked at. The same for the same request, if it says which it is. */
export function importIdOf(request: string | null): string {
  return `import-${request === null ? newSessionId() : lettersOf(request, 10)}`;
}

/** The same for the same request, if it says which it is: it is written to a file of its own, not with the request's key. */
export function memoryIdOf(request: string | null): string {
  return `memory-${request === null ? newSessionId() : lettersOf(request, 16)}`;
}

function lettersOf(request: string, count: number): string {
  const digest = createHash("sha256").update(request).digest();
  return [...digest.subarray(0, count)].map((byte) => ALPHABET[byte % ALPHABET.length]).join("");
}

export function newMessageId(): string {
  return `m-${randomUUID()}`;
}

export function newNotificationId(): string {
  return `n-${randomUUID()}`;
}
