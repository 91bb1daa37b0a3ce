/**
 * Two misses in a row before anything bad is said of a session. A single one
 * may only mean a busy machine or a laptop that just woke up.
 */
const ENOUGH = 2;

export function countMiss(misses: number, isMiss: boolean): number {
  return isMiss ? misses + 1 : 0;
}

export function isEnough(misses: number): boolean {
  return misses >= ENOUGH;
}
