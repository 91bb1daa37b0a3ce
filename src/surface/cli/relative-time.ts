/** Instants as people say them. */
const UNITS = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
  { name: "s", ms: 1_000 },
] as const;

/** "3 min ago", "in 5 s", "just now"; clocks that disagree by a moment are no future. */
export function relativeTime(at: string | null, now: number): string {
  const instant = at === null ? Number.NaN : Date.parse(at);
  if (Number.isNaN(instant)) return "-";
  const distance = now - instant;
  if (Math.abs(distance) < 2_000) return "just now";
  const spoken = duration(Math.abs(distance));
  return distance > 0 ? `${spoken} ago` : `in ${spoken}`;
}

export function duration(ms: number): string {
  const unit = UNITS.find((candidate) => ms >= candidate.ms) ?? { name: "s", ms: 1_000 };
  return `${Math.floor(ms / unit.ms)} ${unit.name}`;
}
