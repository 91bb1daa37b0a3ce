/** Colour for terminals, by what it means. */
export type Tone = "good" | "bad" | "notice" | "quiet" | "strong";

const CODES = { good: 32, bad: 31, notice: 33, quiet: 2, strong: 1 } as const satisfies Record<Tone, number>;

export function paint(tone: Tone, text: string): string {
  return `\u001B[${CODES[tone]}m${text}\u001B[0m`;
}

/** What is seen of a painted text. */
export function withoutPaint(text: string): string {
  return text.replaceAll(/\u001B\[\d+m/g, "");
}
