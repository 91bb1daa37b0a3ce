/**
 * Hours of the day in which nobody wants to be disturbed, in a time zone of
 * their own. Pure: the zones are those that Node brings along. Every question is
 * about an instant, so the days on which clocks are changed need no case of
 * their own.
 */

export interface QuietHours {
  /** Minutes after midnight: the first one that is quiet, and the first that is not. */
  readonly from: number;
  readonly to: number;
  /** As IANA names it; null: the machine's own. */
  readonly zone: string | null;
}

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** No zone moves its clocks by more at once. */
const LARGEST_SHIFT_MINUTES = 180;

/** `22:00-07:00`; null where it is none, or begins when it ends. */
export function parseQuietHours(text: string, zone: string | null): QuietHours | null {
  const [, fromHour, fromMinute, toHour, toMinute] = /^(\d\d):([0-5]\d)-(\d\d):([0-5]\d)$/.exec(text) ?? [];
  const from = Number(fromHour) * 60 + Number(fromMinute);
  const to = Number(toHour) * 60 + Number(toMinute);
  return from < DAY_MINUTES && to < DAY_MINUTES && from !== to ? { from, to, zone } : null;
}

export function isZone(name: string): boolean {
  try {
    const { timeZone } = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    // Intl also takes offsets, which do not follow the changes of summer time.
    return !/^[+-]/.test(timeZone);
  } catch {
    return false;
  }
}

export function isQuiet(hours: QuietHours, at: number): boolean {
  const minute = minuteOfDay(hours.zone, at);
  return hours.from < hours.to ? minute >= hours.from && minute < hours.to : minute >= hours.from || minute < hours.to;
}

/** The first whole minute that is not quiet, from an instant that is. */
export function quietEndsAt(hours: QuietHours, at: number): number {
  const left = (hours.to - minuteOfDay(hours.zone, at) + DAY_MINUTES) % DAY_MINUTES;
  const surelyQuiet = Math.max(0, left - LARGEST_SHIFT_MINUTES);
  let end = Math.floor(at / MINUTE_MS) * MINUTE_MS + surelyQuiet * MINUTE_MS;
  while (isQuiet(hours, end)) end += MINUTE_MS;
  return end;
}

const formats = new Map<string | null, Intl.DateTimeFormat>();

function minuteOfDay(zone: string | null, at: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    const given = zone === null ? {} : { timeZone: zone };
    format = new Intl.DateTimeFormat("en-GB", { ...given, hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    formats.set(zone, format);
  }
  const [hour = 0, minute = 0] = format.format(at).split(":").map(Number);
  return hour * 60 + minute;
}
