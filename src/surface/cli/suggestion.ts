import { nearestWord } from "../../platform/nearest-word.ts";

/** The word somebody probably meant. */
export function didYouMean(given: string, known: readonly string[]): string | null {
  const nearest = nearestWord(given, known);
  return nearest === null ? null : `did you mean ${nearest}?`;
}
