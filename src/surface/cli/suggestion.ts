import { editDistance } from "../../platform/edit-distance.ts";

/** The word somebody probably meant. */
export function didYouMean(given: string, known: readonly string[]): string | null {
  const [best] = known
    .map((word) => ({ word, far: word.startsWith(given) && given.length > 3 ? 1 : editDistance(given, word) }))
    .filter(({ word, far }) => far <= Math.max(1, Math.floor(Math.min(word.length, given.length) / 3)))
    .toSorted((a, b) => a.far - b.far);
  return best === undefined ? null : `did you mean ${best.word}?`;
}
