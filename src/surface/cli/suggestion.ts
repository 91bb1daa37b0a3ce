/** The word somebody probably meant. */
export function didYouMean(given: string, known: readonly string[]): string | null {
  const [best] = known
    .map((word) => ({ word, far: word.startsWith(given) && given.length > 3 ? 1 : distance(given, word) }))
    .filter(({ word, far }) => far <= Math.max(1, Math.floor(Math.min(word.length, given.length) / 3)))
    .toSorted((a, b) => a.far - b.far);
  return best === undefined ? null : `did you mean ${best.word}?`;
}

/** Levenshtein with neighbours swapped counting once; on words of a command line, so size does not matter. */
export function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const cell = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          cell(i - 1, j - 1) + (isSame ? 0 : 1),
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          isSwapped ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return cell(a.length, b.length);
}
