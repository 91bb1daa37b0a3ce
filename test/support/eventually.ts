/** Waiting on conditions with a deadline, so that no test sleeps and hopes. */

/** The first looks come one after the other; later ones leave the processor to what is waited for. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  withinMs = 60_000,
): Promise<T> {
  const endsAt = performance.now() + withinMs;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 1.25, LONGEST_PAUSE_MS)) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > endsAt) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
