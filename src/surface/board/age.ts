/** How long something has been so, in a few letters, and when those letters change. Pure. */
const SECOND = 1_000;
const UNITS = [
  { letter: "d", ms: 86_400_000 },
  { letter: "h", ms: 3_600_000 },
  { letter: "m", ms: 60_000 },
] as const;

/** "7s", "12m", "3h", "2d"; clocks that disagree by a moment are no future. */
export function age(since: number, now: number): string {
  if (Number.isNaN(since)) return "";
  const ms = Math.max(0, now - since);
  const { letter, ms: unit } = unitOf(ms);
  return `${Math.floor(ms / unit)}${letter}`;
}

/** Until `age` says something else; at least a second is left between two looks. */
export function nextAge(since: number, now: number): number {
  if (Number.isNaN(since)) return Infinity;
  const ms = Math.max(0, now - since);
  const { ms: unit } = unitOf(ms);
  return Math.max(unit - (ms % unit), 1);
}

function unitOf(ms: number): { readonly letter: string; readonly ms: number } {
  return UNITS.find((unit) => ms >= unit.ms) ?? { letter: "s", ms: SECOND };
}
