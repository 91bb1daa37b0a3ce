import { parse } from "smol-toml";
import type { AgentSettings } from "../../agent/contract.ts";
import { MAIL_POLICIES, type MailPolicy } from "../../fleet/mail-policy.ts";
import { readPlainFile } from "../../platform/plain-file.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";

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
  /** A turn of which nothing was heard for so long has stalled. */
  readonly stallAfterMs: number;
  /** How long a turn is held open by a command that its agent left running in the background. */
  readonly backgroundPatienceMs: number;
  /** How long an agent may take to say that it is ready, and how long its process may fail to be created. */
  readonly startPatienceMs: number;
  /** How long a person's last key keeps messages back. */
  readonly typingPauseMs: number;
  /** How many starts a session may be away from the operator's. */
  readonly mostDepth: number;
  /** How many living descendants a session that the operator started may have. */
  readonly mostDescendants: number;
  /** Whether a session is woken for what happens to the sessions that it started. */
  readonly wakes: boolean;
  /** To whom sessions may send mail. */
  readonly mail: MailPolicy;
  /** Whether each session gets a cgroup of its own where the system allows it. */
  readonly cgroups: boolean;
  /** By agent, `[agent.<name>]`. */
  readonly agents: Readonly<Record<string, AgentOptions>>;
}

/** What `[agent.<name>]` says: which program, and what is the agent's own business. */
export interface AgentOptions {
  /** Instead of the agent's own program; with arguments for an agent that only the configuration knows. */
  readonly command: readonly string[];
  /** Whether its sessions have Reeve's MCP server. */
  readonly mcp: boolean;
  readonly settings: AgentSettings;
}

export const noOptions: AgentOptions = { command: [], mcp: true, settings: {} };

export const defaultSettings: Settings = {
  endGraceMs: 10_000,
  healthIntervalMs: 5_000,
  orphanGraceMs: 600_000,
  sweepIntervalMs: 60_000,
  outputLogBytes: 1_048_576,
  stallAfterMs: 600_000,
  backgroundPatienceMs: 300_000,
  startPatienceMs: 60_000,
  typingPauseMs: 5_000,
  mostDepth: 3,
  mostDescendants: 50,
  wakes: true,
  mail: "any",
  cgroups: true,
  agents: {},
};

const LARGEST_FILE_BYTES = 1_048_576;

const SECONDS = {
  end_grace_seconds: "endGraceMs",
  health_interval_seconds: "healthIntervalMs",
  orphan_grace_seconds: "orphanGraceMs",
  sweep_interval_seconds: "sweepIntervalMs",
  stall_seconds: "stallAfterMs",
  background_seconds: "backgroundPatienceMs",
  start_patience_seconds: "startPatienceMs",
  typing_pause_seconds: "typingPauseMs",
} as const satisfies Record<string, keyof Numbers>;

const COUNTS = {
  output_log_bytes: "outputLogBytes",
  most_depth: "mostDepth",
  most_descendants: "mostDescendants",
} as const satisfies Record<string, keyof Numbers>;

const SWITCHES = ["wakes", "cgroups"] as const;

type Numbers = Omit<Settings, "agents" | "mail" | (typeof SWITCHES)[number]>;

/**
 * `config.toml`, all of it optional:
 *
 *     [sessions]
 *     end_grace_seconds = 10
 *     health_interval_seconds = 5
 *     orphan_grace_seconds = 600
 *     sweep_interval_seconds = 60
 *     output_log_bytes = 1048576
 *     stall_seconds = 600
 *     background_seconds = 300
 *     start_patience_seconds = 60
 *     typing_pause_seconds = 5
 *     most_depth = 3
 *     most_descendants = 50
 *     wakes = true
 *     mail = "any"                       # or "family", or "operator"
 *     cgroups = true
 *
 *     [agent.codex]
 *     command = "/opt/codex/bin/codex"   # instead of the one on the PATH
 *     mcp = false                        # its sessions do not get Reeve's MCP server
 *     mode = "hooks"                     # the rest is the agent's own
 *
 *     [agent.aider]                      # an agent that only this file knows
 *     command = ["aider", "--no-pretty"]
 *     ready = '^>$'                      # on its screen: it waits for a prompt; lines end without blanks
 *     working = '^Thinking'              # it works
 *     waiting = '\(Y\)es/\(N\)o'         # it asks something
 */
export function readSettings(path: string): Settings {
  let text: string | null;
  try {
    text = readPlainFile(path, LARGEST_FILE_BYTES);
  } catch (error) {
    throw new ReeveError({
      code: "config-invalid",
      kind: "config",
      message: `${path} cannot be read (${messageOf(error)}); fix or remove it, then run: reeve daemon stop.`,
    });
  }
  try {
    return text === null ? defaultSettings : parseSettings(text);
  } catch (error) {
    throw new ReeveError({
      code: "config-invalid",
      kind: "config",
      message: `${path} is not right: ${messageOf(error).split("\n", 1)[0]}; fix or remove it, then run: reeve daemon stop.`,
    });
  }
}

export function parseSettings(text: string): Settings {
  const { sessions = {}, agent = {}, ...others } = parse(text);
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw new Error(`there is no section [${unknown}]`);
  const numbers = { ...defaultSettings, ...parseSessions(tableOf(sessions, "[sessions]")) };
  const agents = Object.entries(tableOf(agent, "[agent]")).map(
    ([name, table]) => [name, parseAgent(name, tableOf(table, `[agent.${name}]`))] as const,
  );
  return { ...numbers, agents: Object.fromEntries(agents) };
}

function parseSessions(table: Readonly<Record<string, unknown>>): Partial<Settings> {
  const settings: { -readonly [Name in keyof Omit<Settings, "agents">]?: Settings[Name] } = {};
  for (const [name, value] of Object.entries(table)) {
    const given = SWITCHES.find((known) => known === name);
    if (given !== undefined) {
      if (typeof value !== "boolean") throw new Error(`${given} must be true or false`);
      settings[given] = value;
      continue;
    }
    if (name === "mail") {
      const policy = MAIL_POLICIES.find((known) => known === value);
      if (policy === undefined)
        throw new Error(`mail must be one of ${MAIL_POLICIES.map((one) => `"${one}"`).join(", ")}`);
      settings.mail = policy;
      continue;
    }
    if (typeof value !== "number" || !Number.isFinite(value) || value < 0)
      throw new Error(`${name} must be a number that is not negative`);
    if (Object.hasOwn(COUNTS, name)) settings[COUNTS[name as keyof typeof COUNTS]] = value;
    else if (Object.hasOwn(SECONDS, name)) settings[SECONDS[name as keyof typeof SECONDS]] = value * 1_000;
    else throw new Error(`there is no setting ${name}`);
  }
  return settings;
}

function parseAgent(name: string, table: Readonly<Record<string, unknown>>): AgentOptions {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name))
    throw new Error(`an agent's name is made of lower-case letters, digits and dashes, not "${name}"`);
  const { command = [], mcp = true, ...rest } = table;
  const words: readonly unknown[] = Array.isArray(command) ? command : [command];
  if (!words.every((word): word is string => typeof word === "string" && word !== ""))
    throw new Error(`[agent.${name}] command must be a program or a list of words`);
  if (typeof mcp !== "boolean") throw new Error(`[agent.${name}] mcp must be true or false`);
  for (const [key, value] of Object.entries(rest)) {
    if (!["string", "number", "boolean"].includes(typeof value))
      throw new Error(`[agent.${name}] ${key} must be a text, a number, true or false`);
  }
  return { command: words, mcp, settings: rest as AgentSettings };
}

function tableOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || value instanceof Date)
    throw new Error(`${what} must be a table`);
  return value as Readonly<Record<string, unknown>>;
}
