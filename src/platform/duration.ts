/** Lengths of time as people write and read them: "90s", "30m", "1h30m", "2 hours". Pure. */
const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, min: 60_000, h: 3_600_000, d: 86_400_000 };

/** "30m", "1h30m", "2 h"; null where it is no length of time. */
export function durationMs(text: string): number | null {
  const written = text.trim();
  if (!/^(?:\d{1,7}(?:\.\d{1,3})?\s*(?:s|min|m|h|d)\s*){1,4}$/.test(written)) return null;
  const parts = [...written.matchAll(/([\d.]+)\s*(min|s|m|h|d)/g)];
  return parts.reduce((sum, [, number = "0", unit = "s"]) => sum + Number(number) * (UNITS_MS[unit] ?? 0), 0);
}

const WORDS = [
  { name: "day", ms: 86_400_000 },
  { name: "hour", ms: 3_600_000 },
  { name: "minute", ms: 60_000 },
  { name: "second", ms: 1_000 },
] as const;

/** "2 hours", "90 minutes", "1 day": in the largest unit in which it is whole, else in seconds. */
export function durationText(ms: number): string {
  const unit = WORDS.find((candidate) => ms >= candidate.ms && ms % candidate.ms === 0);
  const { name, ms: length } = unit ?? { name: "second", ms: 1_000 };
  const count = Number((ms / length).toFixed(3));
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}
