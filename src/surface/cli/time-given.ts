/** A length of time or a time of day, as people write it: "30m", "2h", "2026-11-18T09:00". Pure. */
import { durationMs } from "../../platform/duration.ts";
import { usage } from "./usage.ts";

/** `what` takes it: "snooze", "--for". */
export function timeGiven(
  what: string,
  text: string,
  now: number,
): { readonly for_seconds: number } | { readonly until: string } {
  const ms = durationMs(text);
  if (ms !== null) return { for_seconds: ms / 1_000 };
  const at = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw usage(
      "bad-time",
      `${what} needs a time, such as 30m, 2h, 1d or 2026-11-18T09:00${text === "" ? "" : `, not "${text}"`}.`,
    );
  if (at <= now) throw usage("time-passed", `${text} has passed; give a later time.`);
  return { until: new Date(at).toISOString() };
}
