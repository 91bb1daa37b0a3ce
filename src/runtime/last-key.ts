/** How long ago a person pressed a key, where that is known to the second: of that second its end is told. */

const PRECISION_MS = 1_000;

export function endOfSecond(seconds: number): number {
  return seconds * 1_000 + PRECISION_MS;
}

/** Null: nobody did, or it lies so far in the future that somebody set the clock, which tells nothing of who types. */
export function agoOfKeyMs(typedAt: number | null, now: number): number | null {
  if (typedAt === null || typedAt - now > PRECISION_MS) return null;
  return Math.max(0, now - typedAt);
}
