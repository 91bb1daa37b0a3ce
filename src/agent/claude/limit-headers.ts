/**
 * What the headers of Anthropic's responses say of a plan's limits, as the
 * capture proxy sees them:
 *
 *     anthropic-ratelimit-unified-status: allowed | allowed_warning | rejected
 *     anthropic-ratelimit-unified-reset: <Unix seconds>
 *     anthropic-ratelimit-unified-representative-claim: five_hour | seven_day | …
 *     anthropic-ratelimit-unified-<5h|7d|…>-{status,reset,utilization}    utilization from 0 to 1
 *
 * They come with every answer of a plan. A 429 without them, and a 529, pass by
 * themselves. A rejection has the name that the transcript gives it too
 * (usage-limit.ts), so that both are one limit.
 */
import type { LimitReading } from "../../session/limit.ts";
import { PLAN_LIMIT } from "./usage-limit.ts";

type Headers = Readonly<Record<string, string>>;

const UNIFIED = "anthropic-ratelimit-unified-";
const WINDOW = /^anthropic-ratelimit-unified-(\w+)-utilization$/;
/** From here on it is worth a warning. */
const WARNING_PERCENT = 80;

export function readLimitHeaders(
  headers: Headers,
  { status, at }: { readonly status: number; readonly at: number },
): readonly LimitReading[] {
  const state = headers[`${UNIFIED}status`];
  if (state === undefined) return [];
  if (state === "rejected" && status === 429) return [rejection(headers, at)];
  return Object.keys(headers).flatMap((name) => {
    const window = WINDOW.exec(name)?.[1];
    return window === undefined ? [] : windowOf(headers, window, at);
  });
}

function rejection(headers: Headers, at: number): LimitReading {
  const claim = headers[`${UNIFIED}representative-claim`]?.replaceAll("_", " ") ?? "usage";
  const resetsAt = secondsIn(headers[`${UNIFIED}reset`]);
  return {
    limit: PLAN_LIMIT,
    status: "rejected",
    usedPercent: 100,
    resetsAt,
    confidence: resetsAt === null ? "none" : "stated",
    at,
    text: `The ${claim} limit of the plan is reached.`,
  };
}

function windowOf(headers: Headers, window: string, at: number): readonly LimitReading[] {
  const used = Number(headers[`${UNIFIED}${window}-utilization`]);
  if (!Number.isFinite(used) || used < 0) return [];
  const usedPercent = Math.min(100, used * 100);
  const resetsAt = secondsIn(headers[`${UNIFIED}${window}-reset`]);
  return [
    {
      limit: window,
      // Full, and still answered: on extra usage.
      status: usedPercent >= WARNING_PERCENT ? "warning" : "ok",
      usedPercent,
      resetsAt,
      confidence: resetsAt === null ? "none" : "stated",
      at,
      text: `${Math.round(usedPercent)} % of the limit per ${window} used`,
    },
  ];
}

function secondsIn(text: string | undefined): number | null {
  const seconds = Number(text);
  return text !== undefined && Number.isSafeInteger(seconds) && seconds > 0 ? seconds * 1000 : null;
}
