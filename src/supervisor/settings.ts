import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";

/** What a user may tune, with its defaults. Times are in milliseconds. */
export interface Settings {
  /** Between the polite signal and the firm one when a session is ended. */
  readonly endGraceMs: number;
  /** How often the runtime is asked although it reported nothing. */
  readonly healthIntervalMs: number;
  /** How long something that carries our mark but belongs to no session is left alone. */
  readonly orphanGraceMs: number;
  /** How often such strays are looked for. */
  readonly sweepIntervalMs: number;
  /** Size at which a session's output.log is turned over; one older file is kept. */
  readonly outputLogBytes: number;
}

export const defaultSettings: Settings = {
  endGraceMs: 10_000,
  healthIntervalMs: 5_000,
  orphanGraceMs: 600_000,
  sweepIntervalMs: 60_000,
  outputLogBytes: 1_048_576,
};

const NAMES = {
  end_grace_seconds: "endGraceMs",
  health_interval_seconds: "healthIntervalMs",
  orphan_grace_seconds: "orphanGraceMs",
  sweep_interval_seconds: "sweepIntervalMs",
} as const satisfies Record<string, keyof Settings>;

/**
 * `config.toml`, all of it optional:
 *
 *     [sessions]
 *     end_grace_seconds = 10
 *     health_interval_seconds = 5
 *     orphan_grace_seconds = 600
 *     sweep_interval_seconds = 60
 *     output_log_bytes = 1048576
 */
export function readSettings(path: string): Settings {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return defaultSettings;
  }
  try {
    return parseSettings(text);
  } catch (error) {
    throw new ReeveError({
      code: "config-invalid",
      kind: "config",
      message: `${path} is not right: ${messageOf(error)}; mend or remove it.`,
    });
  }
}

export function parseSettings(text: string): Settings {
  const { sessions = {}, ...others } = parse(text);
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw new Error(`there is no section [${unknown}]`);
  if (typeof sessions !== "object" || Array.isArray(sessions) || sessions instanceof Date)
    throw new Error("[sessions] must be a table");
  const settings: Record<keyof Settings, number> = { ...defaultSettings };
  for (const [name, value] of Object.entries(sessions)) {
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      throw new Error(`${name} must be a number that is not negative`);
    if (name === "output_log_bytes") settings.outputLogBytes = value;
    else if (name in NAMES) settings[NAMES[name as keyof typeof NAMES]] = value * 1_000;
    else throw new Error(`there is no setting ${name}`);
  }
  return settings;
}
