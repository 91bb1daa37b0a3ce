/** A time in the past, as people write it: an age ("2h", "7d") or a date ("2026-11-18", "2026-11-18T09:00"). Pure. */
import { durationMs } from "../../platform/duration.ts";
import { usage } from "./usage.ts";

export function pastTime(option: string, text: string | undefined, now: number): string | undefined {
  if (text === undefined) return undefined;
  const ms = durationMs(text);
  if (ms !== null) return new Date(now - ms).toISOString();
  const isDate = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?$/.test(text);
  // A day alone begins where its reader is, not in Greenwich.
  const at = isDate ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : Number.NaN;
  if (Number.isNaN(at))
    throw usage(
      "bad-time",
      `--${option} needs an age such as 2h or 7d, or a date such as 2026-11-18 or 2026-11-18T09:00, not "${text}".`,
    );
  return new Date(at).toISOString();
}
