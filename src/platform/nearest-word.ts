/** The known word that somebody probably meant; null where none is near. */
import { editDistance } from "./edit-distance.ts";

/** No name of ours is longer, and the distance takes time by the square of it. */
const LONGEST_WORD = 100;

export function nearestWord(given: string, known: readonly string[]): string | null {
  if (given.length > LONGEST_WORD) return null;
  const [best] = known
    .map((word) => ({ word, far: word.startsWith(given) && given.length > 3 ? 1 : editDistance(given, word) }))
    .filter(({ word, far }) => far <= Math.max(1, Math.floor(Math.min(word.length, given.length) / 3)))
    .toSorted((a, b) => a.far - b.far);
  return best?.word ?? null;
}
