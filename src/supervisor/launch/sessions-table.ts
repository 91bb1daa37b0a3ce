/** The table `[sessions]` of config.toml: what each number of it may be, and the older names of time-outs. */
import { MAIL_POLICIES } from "../../fleet/mail-policy.ts";
import { TIME_OUTS, type TimeOutChoice, type TimeOutChoices, type TimeOutName } from "../../session/time-out.ts";
import { type NumberRange, parseNumberIn, parseSwitch, quoted } from "./setting-value.ts";
import type { Settings, Tables } from "./settings.ts";

const YEAR_SECONDS = 31_536_000;

/** What is repeated all the time needs a pause: without one the daemon would do nothing else. */
const LEAST_PAUSE_SECONDS = 0.1;

/** Each with the seconds it may be. */
const SECONDS = {
  health_interval_seconds: ["healthIntervalMs", { least: LEAST_PAUSE_SECONDS, most: 3_600 }],
  orphan_grace_seconds: ["orphanGraceMs", { least: 0, most: YEAR_SECONDS }],
  sweep_interval_seconds: ["sweepIntervalMs", { least: LEAST_PAUSE_SECONDS, most: 86_400 }],
  stall_seconds: ["stallAfterMs", { least: 1, most: YEAR_SECONDS }],
  background_seconds: ["backgroundPatienceMs", { least: 0, most: YEAR_SECONDS }],
  typing_pause_seconds: ["typingPauseMs", { least: 0, most: 3_600 }],
} as const satisfies Record<string, readonly [keyof Numbers, NumberRange]>;

/** Older names in `[sessions]` of what `[timeouts]` says. */
export const OLDER_TIME_OUTS: Readonly<Record<string, TimeOutName>> = {
  end_grace_seconds: "stop_grace",
  start_patience_seconds: "start",
  overdue_approval_seconds: "approval",
};

const COUNTS = {
  output_log_bytes: ["outputLogBytes", { least: 1_024, most: 1_073_741_824, isWhole: true }],
  most_depth: ["mostDepth", { least: 0, most: 100, isWhole: true }],
  most_descendants: ["mostDescendants", { least: 0, most: 10_000, isWhole: true }],
} as const satisfies Record<string, readonly [keyof Numbers, NumberRange]>;

const SWITCHES = { wakes: "wakes", cgroups: "cgroups", persist_session: "persistSession" } as const;

type Switch = (typeof SWITCHES)[keyof typeof SWITCHES];
type Numbers = Omit<Settings, keyof Tables | "mail" | Switch>;

export function parseSessions(
  table: Readonly<Record<string, unknown>>,
): Partial<Omit<Settings, keyof Tables>> & { readonly older: TimeOutChoices } {
  const older: Partial<Record<TimeOutName, TimeOutChoice>> = {};
  const settings: { -readonly [Name in Exclude<keyof Settings, keyof Tables>]?: Settings[Name] } = {};
  for (const [name, value] of Object.entries(table)) {
    if (Object.hasOwn(SWITCHES, name)) {
      settings[SWITCHES[name as keyof typeof SWITCHES]] = parseSwitch(name, value) ?? false;
      continue;
    }
    if (name === "mail") {
      const policy = MAIL_POLICIES.find((known) => known === value);
      if (policy === undefined) throw new Error(`mail must be one of ${quoted(MAIL_POLICIES)}`);
      settings.mail = policy;
      continue;
    }
    const timeOut = Object.hasOwn(OLDER_TIME_OUTS, name) ? OLDER_TIME_OUTS[name] : undefined;
    if (Object.hasOwn(COUNTS, name)) {
      const [field, range] = COUNTS[name as keyof typeof COUNTS];
      settings[field] = parseNumberIn(name, value, range);
    } else if (Object.hasOwn(SECONDS, name)) {
      const [field, range] = SECONDS[name as keyof typeof SECONDS];
      settings[field] = parseNumberIn(name, value, range) * 1_000;
    } else if (timeOut !== undefined) {
      const least = timeOut === "stop_grace" ? 0 : LEAST_PAUSE_SECONDS;
      const seconds = parseNumberIn(name, value, { least, most: TIME_OUTS[timeOut].mostMs / 1_000 });
      older[timeOut] = { afterMs: seconds * 1_000, action: null };
    } else throw new Error(`there is no setting ${name}`);
  }
  return { ...settings, older };
}
