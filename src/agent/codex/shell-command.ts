/**
 * Codex runs a text that begins with `!`, with or without blanks in front, in a
 * shell without asking; also a prompt on its command line (0.166.0). Only over
 * its protocol is such a text taken as text.
 */
export function isShellCommand(text: string): boolean {
  return /^\s*!/.test(text);
}

/** The same text as something to type: behind a zero-width space it is a prompt, behind a blank it is not. */
export function asPrompt(text: string): string {
  return isShellCommand(text) ? `\u200b${text}` : text;
}
