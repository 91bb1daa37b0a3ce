/** Quotes a word so that a POSIX shell reads it back unchanged. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The same for a command that a person reads: in quotes only where it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuote(word);
}

export function shellWords(words: readonly string[]): string {
  return words.map(shellQuote).join(" ");
}
