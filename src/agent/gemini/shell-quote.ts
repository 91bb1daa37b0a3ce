/** A word for a POSIX shell, whatever it contains: Gemini CLI runs a hook's command with `bash -c`. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
