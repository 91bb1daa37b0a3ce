/**
 * Takes known secret values out of text before it is written anywhere. Exact
 * values are all that can be promised; text that only looks like a secret is
 * left to those who publish it.
 */
export const REDACTED = "[redacted]";

export interface Redactor {
  /** Text that may be written now; the last few characters are kept until the next call, a secret may straddle two. */
  push(text: string): string;
  flush(): string;
}

export function redact(text: string, secrets: readonly string[]): string {
  return longestFirst(secrets).reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
}

export function createRedactor(secrets: readonly string[]): Redactor {
  const ordered = longestFirst(secrets);
  const overlap = Math.max(0, ...ordered.map((secret) => secret.length - 1));
  let kept = "";
  return {
    push(text) {
      const whole = redact(kept + text, ordered);
      const cut = Math.max(0, whole.length - overlap);
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

/** So that a secret inside another one does not leave the outer one's rest behind. */
function longestFirst(secrets: readonly string[]): readonly string[] {
  return secrets.flatMap((secret) => (secret === "" ? [] : [secret])).toSorted((a, b) => b.length - a.length);
}
