/** What a user may tune about limits: the table [quota] of config.toml. */

export interface QuotaSettings {
  /** Whether sessions wait while a limit is reached that they draw on. */
  readonly isEnabled: boolean;
  /** Whether Reeve goes on with turns that failed because of a limit. */
  readonly resumes: boolean;
  /** Between two sessions that continue when a limit was reset. */
  readonly staggerMs: number;
  /** The first wait for a limit whose reset nobody states. */
  readonly firstWaitMs: number;
}

export const defaultQuotaSettings: QuotaSettings = {
  isEnabled: true,
  resumes: true,
  staggerMs: 1_000,
  firstWaitMs: 60_000,
};

const SWITCHES: Readonly<Record<string, "isEnabled" | "resumes">> = { enabled: "isEnabled", resume: "resumes" };
const SECONDS: Readonly<Record<string, "staggerMs" | "firstWaitMs">> = {
  stagger_seconds: "staggerMs",
  retry_seconds: "firstWaitMs",
};

export function parseQuota(table: Readonly<Record<string, unknown>>): QuotaSettings {
  const settings: { -readonly [Name in keyof QuotaSettings]: QuotaSettings[Name] } = { ...defaultQuotaSettings };
  for (const [name, value] of Object.entries(table)) {
    const given = Object.hasOwn(SWITCHES, name) ? SWITCHES[name] : undefined;
    const seconds = Object.hasOwn(SECONDS, name) ? SECONDS[name] : undefined;
    if (given !== undefined) {
      if (typeof value !== "boolean") throw new Error(`[quota] ${name} must be true or false`);
      settings[given] = value;
    } else if (seconds !== undefined) {
      if (typeof value !== "number" || !(value >= LEAST_SECONDS[seconds] && value <= MOST_SECONDS))
        throw new Error(`[quota] ${name} must be a number from ${LEAST_SECONDS[seconds]} to ${MOST_SECONDS}`);
      settings[seconds] = value * 1_000;
    } else throw new Error(`there is no setting ${name} in [quota]`);
  }
  return settings;
}

const LEAST_SECONDS = { staggerMs: 0, firstWaitMs: 1 } as const;
const MOST_SECONDS = 3_600;
