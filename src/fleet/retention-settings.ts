/** How long and how much is kept of what is over: the table [retention] of config.toml, with all defaults. */

export interface RetentionSettings {
  /** False: nothing is removed by itself; `reeve prune` still does. */
  readonly isEnabled: boolean;
  /** Ended sessions, with their directories and messages: for so long, */
  readonly endedMs: number;
  /** at most so many, */
  readonly endedSessions: number;
  /** and at most so many bytes in all their directories. */
  readonly outputsBytes: number;
  /** An ended session that has unread mail stays for so long. */
  readonly unreadMailMs: number;
  readonly eventsMs: number;
  readonly events: number;
  /** Mail that was read, archived or retracted. */
  readonly mailMs: number;
  readonly mails: number;
  /** Items of work that are done or were cancelled. */
  readonly workMs: number;
  readonly workItems: number;
}

const DAY_MS = 86_400_000;
const MEGABYTE = 1_048_576;

export const defaultRetention: RetentionSettings = {
  isEnabled: true,
  endedMs: 30 * DAY_MS,
  endedSessions: 2_000,
  outputsBytes: 2_048 * MEGABYTE,
  unreadMailMs: 90 * DAY_MS,
  eventsMs: 30 * DAY_MS,
  events: 500_000,
  mailMs: 30 * DAY_MS,
  mails: 10_000,
  workMs: 90 * DAY_MS,
  workItems: 10_000,
};

/** The name in the file, the field, and what one of it is. */
const NUMBERS = {
  ended_days: ["endedMs", DAY_MS],
  ended_sessions: ["endedSessions", 1],
  outputs_megabytes: ["outputsBytes", MEGABYTE],
  unread_mail_days: ["unreadMailMs", DAY_MS],
  events_days: ["eventsMs", DAY_MS],
  events: ["events", 1],
  mail_days: ["mailMs", DAY_MS],
  mails: ["mails", 1],
  work_days: ["workMs", DAY_MS],
  work_items: ["workItems", 1],
} as const satisfies Readonly<Record<string, readonly [keyof RetentionSettings, number]>>;

/** A hundred years, or more than any disk holds. */
const MOST: Readonly<Record<number, number>> = { [DAY_MS]: 36_500, [MEGABYTE]: 1_000_000_000, 1: 100_000_000 };

export function parseRetention(table: Readonly<Record<string, unknown>>): RetentionSettings {
  const settings: { -readonly [Name in keyof RetentionSettings]: RetentionSettings[Name] } = { ...defaultRetention };
  for (const [name, value] of Object.entries(table)) {
    if (name === "enabled") {
      if (typeof value !== "boolean") throw new Error("[retention] enabled must be true or false");
      settings.isEnabled = value;
      continue;
    }
    if (!Object.hasOwn(NUMBERS, name)) throw new Error(`there is no setting ${name} in [retention]`);
    const [field, unit] = NUMBERS[name as keyof typeof NUMBERS];
    const most = MOST[unit] ?? 0;
    if (typeof value !== "number" || !(value >= 0 && value <= most) || (unit === 1 && !Number.isInteger(value)))
      throw new Error(`[retention] ${name} must be a ${unit === 1 ? "whole " : ""}number from 0 to ${most}`);
    settings[field] = value * unit;
  }
  return settings;
}

/** With everything that is limited by age limited to this. */
export function olderThan(settings: RetentionSettings, ms: number): RetentionSettings {
  return { ...settings, endedMs: ms, eventsMs: ms, mailMs: ms, workMs: ms };
}
