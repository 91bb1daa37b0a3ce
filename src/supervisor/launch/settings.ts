import { homedir } from "node:os";
import { parse } from "smol-toml";
import type { AgentSettings } from "../../agent/contract.ts";
import { type NotificationChannel, parseNotifications } from "../../fleet/notification-settings.ts";
import type { MailPolicy } from "../../fleet/mail-policy.ts";
import { parseRuleTables, type RuleTable } from "../../fleet/rule-table.ts";
import { defaultWorkSettings, parseMostWorkers, parseWork, type WorkSettings } from "../../fleet/work-limits.ts";
import { defaultQuotaSettings, parseQuota, type QuotaSettings } from "../../fleet/quota-settings.ts";
import { defaultRetention, parseRetention, type RetentionSettings } from "../../fleet/retention-settings.ts";
import { readPlainFile } from "../../platform/plain-file.ts";
import { messageOf, ReeveError } from "../../platform/reeve-error.ts";
import type { RestartPolicy } from "../../session/restart-record.ts";
import { parseTimeOuts, type TimeOutChoices } from "../../session/time-out.ts";
import {
  type ContainerDefaults,
  defaultDockerSettings,
  type DockerSettings,
  parseContainerDefaults,
  parseDockerSettings,
} from "./docker-settings.ts";
import { defaultMemorySettings, type MemorySettings, parseMemorySettings } from "./memory-settings.ts";
import { defaultGitSettings, type GitSettings, parseGitSettings } from "./git-settings.ts";
import { OLDER_TIME_OUTS, parseSessions } from "./sessions-table.ts";
import { type SessionSwitches, switchesByDefault, takeSwitches } from "./session-switch.ts";
import { parseRestart, parseSwitch, parseWord, requireName, tableOf } from "./setting-value.ts";

/** What a user may tune, with its defaults. Times are in milliseconds. */
export interface Settings extends Tables {
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
  /** Whether everything is kept of sessions whose start, role and agent do not say (session/persistence.ts). */
  readonly persistSession: boolean;
}

/** What has tables of its own in the file, beside `[sessions]`. */
export interface Tables {
  /** By which approvals are answered without a person, `[[approval]]`; in order. */
  readonly approvalRules: readonly RuleTable[];
  /** By which the operator is told of what needs them, `[[notify]]`. */
  readonly notify: readonly NotificationChannel[];
  /** Sessions in containers, `[docker]`. */
  readonly docker: DockerSettings;
  /** Branches and worktrees, `[git]`. */
  readonly git: GitSettings;
  /** What is remembered, `[memory]`. */
  readonly memory: MemorySettings;
  /** How limits of vendors are waited for, `[quota]`. */
  readonly quota: QuotaSettings;
  /** After how long something is done about a session, `[timeouts]`; also by agent and role. */
  readonly timeouts: TimeOutChoices;
  /** `recovery_wakes` and `memory_reminder`; also by agent and role. */
  readonly switches: SessionSwitches;
  /** How long what is over is kept, `[retention]`. */
  readonly retention: RetentionSettings;
  /** How items of work are given out, `[work]`. */
  readonly work: WorkSettings;
  /** By agent, `[agent.<name>]`. */
  readonly agents: Readonly<Record<string, AgentOptions>>;
  /** By role, `[role.<name>]`. */
  readonly roles: Readonly<Record<string, RoleOptions>>;
}

/** What `[role.<name>]` says. */
export interface RoleOptions {
  /** Of starts in this role that do not say; null: the agent's. */
  readonly restart: RestartPolicy | null;
  readonly timeouts: TimeOutChoices;
  /** How many of them may have an item of work at once; null: it is not said. */
  readonly mostWorkers: number | null;
  /** Whether everything is kept of them; null: it is not said. */
  readonly persistSession: boolean | null;
  /** Where they run, and the image of their containers; null: it is not said. */
  readonly runtime: string | null;
  readonly image: string | null;
  readonly container: ContainerDefaults;
}

/** What `[agent.<name>]` says: which program, and what is the agent's own business. */
export interface AgentOptions {
  /** Instead of the agent's own program; with arguments for an agent that only the configuration knows. */
  readonly command: readonly string[];
  /** Whether its sessions have Reeve's MCP server. */
  readonly mcp: boolean;
  /** Of starts that do not say, in a role that does not either; null: never. */
  readonly restart: RestartPolicy | null;
  readonly timeouts: TimeOutChoices;
  /** How many of them may have an item of work at once; null: it is not said. */
  readonly mostWorkers: number | null;
  /** Whether everything is kept of them; null: it is not said. */
  readonly persistSession: boolean | null;
  readonly settings: AgentSettings;
}

export const noOptions: AgentOptions = {
  command: [],
  mcp: true,
  restart: null,
  timeouts: {},
  mostWorkers: null,
  persistSession: null,
  settings: {},
};

export const defaultSettings: Settings = {
  healthIntervalMs: 5_000,
  orphanGraceMs: 600_000,
  sweepIntervalMs: 60_000,
  outputLogBytes: 1_048_576,
  stallAfterMs: 600_000,
  backgroundPatienceMs: 300_000,
  typingPauseMs: 5_000,
  mostDepth: 3,
  mostDescendants: 50,
  wakes: true,
  mail: "any",
  cgroups: true,
  persistSession: false,
  approvalRules: [],
  notify: [],
  docker: defaultDockerSettings,
  git: defaultGitSettings,
  memory: defaultMemorySettings,
  quota: defaultQuotaSettings,
  timeouts: {},
  switches: switchesByDefault,
  retention: defaultRetention,
  work: defaultWorkSettings,
  agents: {},
  roles: {},
};

const LARGEST_FILE_BYTES = 1_048_576;

/**
 * `config.toml`, all of it optional:
 *
 *     [sessions]
 *     health_interval_seconds = 5
 *     orphan_grace_seconds = 600
 *     sweep_interval_seconds = 60
 *     output_log_bytes = 1048576
 *     stall_seconds = 600
 *     background_seconds = 300
 *     typing_pause_seconds = 5
 *     most_depth = 3
 *     most_descendants = 50
 *     wakes = true
 *     recovery_wakes = true              # also in [agent.<name>] and [role.<name>]
 *     memory_reminder = false            # also in [agent.<name>] and [role.<name>]
 *     mail = "any"                       # or "family", or "operator"
 *     cgroups = true
 *     persist_session = false            # also in [agent.<name>] and [role.<name>]
 *
 *     [docker]                           # see docker-settings.ts; also git-settings.ts, memory-settings.ts
 *     [quota]
 *     enabled = true                     # sessions wait while a limit of their account is reached
 *     resume = true                      # Reeve goes on with the turn that a limit stopped
 *     stagger_seconds = 1                # between two sessions that continue after a reset
 *     retry_seconds = 60                 # first wait where nobody says when a limit resets; doubles up to an hour
 *
 *     [timeouts]                         # session/time-out.ts says which there are
 *     turn = { after = "30m", then = "interrupt" }
 *     idle = "8h"
 *     stop_grace = 10                    # seconds; in [sessions] also as end_grace_seconds
 *
 *     [agent.codex.timeouts]             # the same for its sessions, and in [role.<name>.timeouts]
 *     start = 120
 *
 *     [retention]                        # see fleet/retention-settings.ts
 *     ended_days = 30                    # ended sessions, with their directories
 *     ended_sessions = 2000
 *
 *     [agent.codex]
 *     command = "/opt/codex/bin/codex"   # instead of the one on the PATH
 *     mcp = false                        # its sessions do not get Reeve's MCP server
 *     restart = "on-failure"             # its sessions are started again when they die
 *     mode = "hooks"                     # the rest is the agent's own
 *
 *     [agent.aider]                      # an agent that only this file knows
 *     command = ["aider", "--no-pretty"]
 *     ready = '^>$'                      # on its screen: it waits for a prompt; lines end without blanks
 *     working = '^Thinking'              # it works
 *     waiting = '\(Y\)es/\(N\)o'         # it asks something
 *
 *     [[approval]]                       # what is answered without you: fleet/rule-table.ts
 *     tools = ["command"]
 *     allow = ['npm test']
 *
 *     [role.server]                      # sessions of this role, whatever their agent
 *     restart = "always"
 *     runtime = "docker"                 # where they run, and the image of their containers
 *     image = "reeve-server"
 *     memory = "2g"                      # also cpus, pids and network, as in [docker], and mounts
 *     most_workers = 1                   # so many of this role may have an item of work at once
 *
 *     [work]                             # the queue of work: fleet/work-limits.ts
 *     most_workers = 4                   # so many may have an item of work at once; [agent.x] and [role.x] limit theirs
 *     verify_timeout_seconds = 600       # how long a verification command may run
 *
 *     [[notify]]                         # see fleet/notification-settings.ts
 *     type = "desktop"
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
    throw configProblem(path, error);
  }
}

export function configProblem(path: string, error: unknown): ReeveError {
  return new ReeveError({
    code: "config-invalid",
    kind: "config",
    message: `${path} is not right: ${messageOf(error).split("\n", 1)[0]}; fix or remove it, then run: reeve daemon stop.`,
  });
}

export function parseSettings(text: string): Settings {
  const { switches, rest } = takeSwitches(parse(text));
  const {
    sessions = {},
    agent = {},
    role = {},
    docker = {},
    git = {},
    memory = {},
    quota = {},
    timeouts = {},
    retention = {},
    work = {},
    approval = [],
    notify = [],
    ...others
  } = rest;
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw new Error(`there is no section [${unknown}]`);
  const { older, ...given } = parseSessions(tableOf(sessions, "[sessions]"));
  const numbers = { ...defaultSettings, ...given };
  const agents = Object.entries(tableOf(agent, "[agent]")).map(
    ([name, table]) => [name, parseAgent(name, tableOf(table, `[agent.${name}]`))] as const,
  );
  const roles = Object.entries(tableOf(role, "[role]")).map(
    ([name, table]) => [name, parseRole(name, tableOf(table, `[role.${name}]`))] as const,
  );
  return {
    ...numbers,
    agents: Object.fromEntries(agents),
    roles: Object.fromEntries(roles),
    approvalRules: parseRuleTables(approval, homedir()),
    notify: parseNotifications(notify),
    docker: parseDockerSettings(tableOf(docker, "[docker]")),
    git: parseGitSettings(tableOf(git, "[git]")),
    memory: parseMemorySettings(tableOf(memory, "[memory]")),
    quota: parseQuota(tableOf(quota, "[quota]")),
    timeouts: { ...older, ...newTimeOuts(older, parseTimeOuts("[timeouts]", tableOf(timeouts, "[timeouts]"))) },
    switches,
    retention: parseRetention(tableOf(retention, "[retention]")),
    work: parseWork(tableOf(work, "[work]")),
  };
}

/** One thing is said in one place. */
function newTimeOuts(older: TimeOutChoices, given: TimeOutChoices): TimeOutChoices {
  const twice = Object.entries(OLDER_TIME_OUTS).find(
    ([, name]) => older[name] !== undefined && given[name] !== undefined,
  );
  if (twice !== undefined)
    throw new Error(`${twice[0]} in [sessions] and ${twice[1]} in [timeouts] say the same; remove the first`);
  return given;
}

function timeOutsIn(where: string, value: unknown): TimeOutChoices {
  return value === undefined ? {} : parseTimeOuts(where, tableOf(value, where));
}

function parseRole(name: string, table: Readonly<Record<string, unknown>>): RoleOptions {
  requireName("a role", name);
  const { restart, timeouts, most_workers: most, persist_session: persist, runtime, image, ...container } = table;
  const where = `[role.${name}]`;
  return {
    restart: parseRestart(where, restart),
    timeouts: timeOutsIn(`[role.${name}.timeouts]`, timeouts),
    mostWorkers: parseMostWorkers(where, most),
    persistSession: parseSwitch(`${where} persist_session`, persist),
    runtime: parseWord(`${where} runtime`, runtime),
    image: parseWord(`${where} image`, image),
    container: parseContainerDefaults(where, container),
  };
}

function parseAgent(name: string, table: Readonly<Record<string, unknown>>): AgentOptions {
  requireName("an agent", name);
  const { command = [], mcp = true, restart, timeouts, most_workers: most, persist_session: persist, ...rest } = table;
  const where = `[agent.${name}]`;
  const words: readonly unknown[] = Array.isArray(command) ? command : [command];
  if (!words.every((word): word is string => typeof word === "string" && word !== ""))
    throw new Error(`[agent.${name}] command must be a program or a list of words`);
  if (typeof mcp !== "boolean") throw new Error(`[agent.${name}] mcp must be true or false`);
  for (const [key, value] of Object.entries(rest)) {
    if (!["string", "number", "boolean"].includes(typeof value))
      throw new Error(`[agent.${name}] ${key} must be a text, a number, true or false`);
  }
  return {
    command: words,
    mcp,
    restart: parseRestart(where, restart),
    timeouts: timeOutsIn(`[agent.${name}.timeouts]`, timeouts),
    mostWorkers: parseMostWorkers(where, most),
    persistSession: parseSwitch(`${where} persist_session`, persist),
    settings: rest as AgentSettings,
  };
}
