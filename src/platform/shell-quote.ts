/** Quotes a word so that a POSIX shell reads it back unchanged. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export function shellWords(words: readonly string[]): string {
  return words.map(shellQuote).join(" ");
}
