/**
 * When a limit resets, as an agent's text says it. Agents give a span ("try
 * again in 11.054s"), a moment in Unix seconds ("limit reached|1762952400"), or
 * the time of a clock ("resets 8pm (America/New_York)"), which shows only
 * minutes: then it is the end of that minute, so that nobody is too early. A
 * clock without a zone is that of this machine.
 */
import type { LimitConfidence } from "../session/limit.ts";

export interface ResetTime {
  /** Milliseconds since the epoch. */
  readonly resetsAt: number | null;
  readonly confidence: LimitConfidence;
}

export const NO_RESET: ResetTime = { resetsAt: null, confidence: "none" };

/** A limit that resets later than this is none that somebody waits for: the text means something else. */
const FARTHEST_MS = 370 * 86_400_000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LONGEST_TEXT = 2_000;

/** `at`: when the text was written. */
export function resetTimeIn(raw: string, at: number): ResetTime {
  const text = raw.slice(0, LONGEST_TEXT);
  const unix = /\breached\|(\d{10})\b/.exec(text)?.[1];
  if (unix !== undefined) return { resetsAt: Number(unix) * 1000, confidence: "stated" };
  const resetsAt = afterSpan(text, at) ?? onDay(text) ?? atClock(text, at);
  if (resetsAt === null || Math.abs(resetsAt - at) > FARTHEST_MS) return NO_RESET;
  return { resetsAt, confidence: "derived" };
}

/** As Google's APIs spell a span: "34.07s", "900ms". */
export function spanOf(text: string): number | null {
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,9})?)(ms|s)$/.exec(text) ?? [];
  return amount === undefined ? null : Math.ceil(Number(amount) * (unit === "ms" ? 1 : 1000));
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: MINUTE_MS, h: 3_600_000, d: DAY_MS };
const SPAN = /\b(?:try again|retry|resets?|wait) (?:in|after) ((?:\d{1,9}(?:\.\d{1,9})? ?[a-z]{1,12}[, ]{0,2}){1,4})/i;

/** "try again in 11.054s", "try again in 3 days 28 minutes". */
function afterSpan(text: string, at: number): number | null {
  const span = SPAN.exec(text)?.[1];
  if (span === undefined) return null;
  let ms = 0;
  for (const [, amount = "", word = ""] of span.matchAll(/(\d+(?:\.\d+)?) ?([a-z]+)/gi)) {
    const unit = UNIT_MS[word.toLowerCase() === "ms" ? "ms" : word.charAt(0).toLowerCase()];
    if (unit === undefined) break;
    ms += Number(amount) * unit;
  }
  return ms === 0 ? null : at + Math.ceil(ms);
}

/** "regain access on 2026-12-01 at 00:00 UTC". */
function onDay(text: string): number | null {
  const found = /\b(\d{4}-\d{2}-\d{2})(?: at |T| )(\d{2}:\d{2})(?::\d{2})? ?(?:UTC|Z)/.exec(text);
  const time = Date.parse(`${found?.[1]}T${found?.[2]}:00Z`);
  return found === null || Number.isNaN(time) ? null : time + MINUTE_MS;
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const CLOCK =
  /\b(?:resets|try again|continuing automatically)(?: at| on)? (?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap])m\b ?(?:\(([\w/+-]{1,40})\)|(UTC|GMT[+-]\d{1,2}(?::?\d{2})?))?/i;

/** "resets 8pm (America/New_York)", "try again at Sep 25th, 2026 9:15 AM", "Access resets at 8:09 AM UTC". */
function atClock(text: string, at: number): number | null {
  const [, monthName, dayText, yearText, hourText = "", minuteText = "0", half = "", named, bare] =
    CLOCK.exec(text) ?? [];
  const hour = (Number(hourText) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  if (hourText === "" || Number(hourText) > 12) return null;
  const zone = zoneOf(named ?? bare);
  if (zone === undefined) return null;
  const today = dayIn(zone, at);
  const month = monthName === undefined ? today.month : MONTHS.indexOf(monthName.toLowerCase());
  if (month < 0) return null;
  const day = dayText === undefined ? today.day : Number(dayText);
  const wall = (year: number): number =>
    instantOf(zone, Date.UTC(year, month, day, hour, Number(minuteText))) + MINUTE_MS;
  if (yearText !== undefined) return wall(Number(yearText));
  if (dayText === undefined) return wall(today.year) > at ? wall(today.year) : wall(today.year) + DAY_MS;
  // A date without a year that is long past is next year's.
  return wall(today.year) > at - DAY_MS ? wall(today.year) : wall(today.year + 1);
}

/** Null: this machine's. Undefined: one that nobody knows. */
function zoneOf(name: string | undefined): string | null | undefined {
  if (name === undefined) return null;
  const offset = /^GMT([+-]\d{1,2})$/i.exec(name)?.[1];
  const zone = offset === undefined ? name : `Etc/GMT${Number(offset) > 0 ? "-" : "+"}${Math.abs(Number(offset))}`;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone: zone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

function dayIn(
  zone: string | null,
  at: number,
): { readonly year: number; readonly month: number; readonly day: number } {
  const shown = new Date(at + offsetOf(zone, at));
  return { year: shown.getUTCFullYear(), month: shown.getUTCMonth(), day: shown.getUTCDate() };
}

/** The moment at which a clock in that zone shows `wall`, a time written as if it were UTC's. */
function instantOf(zone: string | null, wall: number): number {
  const near = wall - offsetOf(zone, wall);
  return wall - offsetOf(zone, near);
}

function offsetOf(zone: string | null, at: number): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    ...(zone === null ? {} : { timeZone: zone }),
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((one) => one.type === type)?.value);
  const shown = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return shown - Math.floor(at / 1000) * 1000;
}
