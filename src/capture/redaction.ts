/**
 * Takes known secret values out of text before it is written anywhere. Exact
 * values are all that can be promised; text that only looks like a secret is
 * left to those who publish it.
 */
export const REDACTED = "[redacted]";

export interface Redactor {
  /** Text that may be written now; what may be the beginning of a secret is kept until the next call. */
  push(text: string): string;
  flush(): string;
}

export function redact(text: string, secrets: readonly string[]): string {
  return longestFirst(secrets).reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
}

export function createRedactor(secrets: readonly string[]): Redactor {
  const ordered = longestFirst(secrets);
  let kept = "";
  return {
    push(text) {
      const whole = redact(kept + text, ordered);
      const cut = whole.length - Math.max(0, ...ordered.map((secret) => begunAtEnd(whole, secret)));
      kept = whole.slice(cut);
      return whole.slice(0, cut);
    },
    flush() {
      const rest = kept;
      kept = "";
      return rest;
    },
  };
}

/** How many characters at the end of the text could be the beginning of the secret. */
function begunAtEnd(text: string, secret: string): number {
  for (let length = Math.min(text.length, secret.length - 1); length > 0; length--) {
    if (text.endsWith(secret.slice(0, length))) return length;
  }
  return 0;
}

/** So that a secret inside another one does not leave the outer one's rest behind. */
function longestFirst(secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => (secret === "" ? [] : [secret])).toSorted((a, b) => b.length - a.length);
}
