/**
 * What begins with `!`, blanks in front or not, Codex runs in a shell without
 * asking, as a prompt on its command line too (0.166.0). Only its protocol
 * takes such a text for what it is.
 */
export function isShellCommand(text: string): boolean {
  return /^\s*!/.test(text);
}

/** The same text as something to type: behind a zero-width space it is a prompt, behind a blank it is not. */
export function asPrompt(text: string): string {
  return isShellCommand(text) ? `\u200b${text}` : text;
}
