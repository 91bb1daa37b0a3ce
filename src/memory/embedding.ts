/**
 * A vector for a text, made here, offline and always the same: its words and the
 * letter triples of each are hashed into a fixed number of places. Texts that
 * share words, or parts of words (tests, testing), come out near to each other.
 * It knows nothing of meaning; whoever wants that brings a model. Pure.
 */
import { wordsOf } from "../search/words.ts";

export const DIMENSIONS = 256;

/** A whole word says more than a part of one. */
const WORD_WEIGHT = 1;
const PART_WEIGHT = 0.4;

/** Of length 1, unless there is no word in the text. */
export function embed(text: string): readonly number[] {
  const vector = Array.from({ length: DIMENSIONS }, () => 0);
  const counted = new Map<string, number>();
  for (const { token } of wordsOf(text)) {
    counted.set(token, (counted.get(token) ?? 0) + WORD_WEIGHT);
    const framed = `^${token}$`;
    for (let at = 0; at + 3 <= framed.length && framed.length > 4; at += 1) {
      const part = `#${framed.slice(at, at + 3)}`;
      counted.set(part, (counted.get(part) ?? 0) + PART_WEIGHT);
    }
  }
  for (const [feature, weight] of counted) {
    const hashed = fnv1a(feature);
    const place = hashed % DIMENSIONS;
    // A word that stands often does not drown the others.
    vector[place] = (vector[place] ?? 0) + (hashed & 0x8000_0000 ? -1 : 1) * Math.sqrt(weight);
  }
  const length = Math.hypot(...vector);
  return length === 0 ? vector : vector.map((value) => value / length);
}

function fnv1a(text: string): number {
  let hashed = 0x811c_9dc5;
  for (let at = 0; at < text.length; at += 1) hashed = Math.imul(hashed ^ text.charCodeAt(at), 0x0100_0193);
  return (hashed ^ (hashed >>> 15)) >>> 0;
}
