/**
 * What Codex says of the limits of its account: the windows of the plan, in
 * `account/rateLimits/updated` and in the rollout's `token_count`, with every
 * answer and when a limit is hit (0.166.0). The error itself names no moment
 * but in its text, and that only in minutes.
 */
import { type Fields, fieldsOf, isFields, textIn } from "../../platform/json-fields.ts";
import type { LimitReading } from "../../session/limit.ts";
import { resetTimeIn } from "../reset-time.ts";
import { errorText } from "./error-text.ts";
import { failureOf } from "./failure-of.ts";

/** From here on it is worth a warning. */
const WARNING_PERCENT = 80;

/** Of a snapshot as either source spells it; none where the account has no such windows. */
export function windowsOf(snapshot: Fields, at?: number): readonly LimitReading[] {
  const id = textIn(snapshot, "limitId") ?? textIn(snapshot, "limit_id") ?? "codex";
  const credits = fieldsOf(snapshot["credits"]);
  // Beyond the window such an account goes on, on its credits.
  const hasCredits = [credits["hasCredits"], credits["has_credits"], credits["unlimited"]].includes(true);
  return (["primary", "secondary"] as const).flatMap((name) => {
    const window = snapshot[name];
    const read = isFields(window) ? windowOf(id === "codex" ? name : `${id} ${name}`, window, hasCredits) : [];
    return read.map((limit) => (at === undefined ? limit : { ...limit, at }));
  });
}

function windowOf(limit: string, window: Fields, hasCredits: boolean): readonly LimitReading[] {
  const used = window["usedPercent"] ?? window["used_percent"];
  if (typeof used !== "number" || !(used >= 0)) return [];
  const usedPercent = Math.min(100, used);
  const seconds = window["resetsAt"] ?? window["resets_at"];
  const resetsAt = typeof seconds === "number" && Number.isSafeInteger(seconds) ? seconds * 1000 : null;
  const minutes = window["windowDurationMins"] ?? window["window_minutes"];
  const span = typeof minutes === "number" ? ` of the limit per ${spanText(minutes)}` : "";
  const isFull = usedPercent >= 100 && !hasCredits;
  return [
    {
      limit,
      status: isFull ? "rejected" : usedPercent >= WARNING_PERCENT ? "warning" : "ok",
      usedPercent,
      resetsAt,
      confidence: resetsAt === null ? "none" : "stated",
      text: `${Math.round(usedPercent)} %${span} used`,
    },
  ];
}

function spanText(minutes: number): string {
  if (minutes % 1440 === 0) return minutes === 1440 ? "day" : `${minutes / 1440} days`;
  return minutes % 60 === 0 ? `${minutes / 60} hours` : `${minutes} minutes`;
}

/**
 * Of an error that is about a limit, by its text alone; none otherwise. One that Codex `willRetry` it waits out by
 * itself. `at` null: nobody knows when it was said.
 */
export function limitOfError(error: Fields, at: number | null, willRetry: boolean): readonly LimitReading[] {
  const kind = failureOf(error);
  if (kind !== "rate-limit" && kind !== "quota-exhausted") return [];
  const text = errorText(error);
  const time = at === null ? ({ resetsAt: null, confidence: "none" } as const) : resetTimeIn(text, at);
  return [
    {
      limit: kind === "rate-limit" ? "requests" : "primary",
      status: "rejected",
      usedPercent: null,
      ...time,
      ...(at === null ? {} : { at }),
      ...(willRetry ? { resumesItself: true } : {}),
      text,
    },
  ];
}
