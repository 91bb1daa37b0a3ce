/**
 * Decides when a session is unreachable: after two unanswered questions in a
 * row. A single one may only mean a busy machine or a laptop that just woke up.
 */
const MISSES_BEFORE_VERDICT = 2;

export interface Health {
  readonly misses: number;
}

export const healthy: Health = { misses: 0 };

export function judge(health: Health, answered: boolean): { readonly health: Health; readonly unreachable: boolean } {
  if (answered) return { health: healthy, unreachable: false };
  const misses = health.misses + 1;
  return { health: { misses }, unreachable: misses >= MISSES_BEFORE_VERDICT };
}
