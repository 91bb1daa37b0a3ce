/**
 * The topics of `reeve help` that belong to no single command. Loaded only when
 * one is asked for. A test holds the settings against what the daemon reads.
 */
import { locateHome } from "../../platform/home.ts";
import { EXIT_CODE_NOTES, EXIT_CODES } from "./exit-codes.ts";
import { columns } from "./help.ts";
import type { HelpTopic } from "./help.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface TopicText {
  readonly title: string;
  readonly rows: readonly (readonly [string, string])[];
  readonly notes: readonly string[];
}

export function topicOf(topic: HelpTopic, environment: Environment): TopicText {
  switch (topic) {
    case "exit-codes":
      return {
        title: "What the exit codes mean, for every command.",
        rows: EXIT_CODES.map(({ code, name, meaning }) => [`${code}`.padStart(3), `${name}: ${meaning}`]),
        notes: EXIT_CODE_NOTES,
      };
    case "environment":
      return { title: "Environment variables that reeve reads or sets.", rows: VARIABLES, notes: VARIABLE_NOTES };
    case "files":
      return { title: "Where Reeve keeps its files.", rows: filesOf(environment), notes: FILE_NOTES };
    case "settings":
      return {
        title: `Settings: ${locateHome(environment).configPath}, all of it optional.`,
        rows: SETTINGS.map(({ name, value, meaning }) => [`${name} = ${value}`, meaning]),
        notes: SETTING_NOTES,
      };
  }
}

export function topicHelp({ title, rows, notes }: TopicText): string {
  return [title, "", ...columns(rows), "", ...notes, ""].join("\n");
}

const VARIABLES: TopicText["rows"] = [
  ["REEVE_HOME", "keep everything in this directory instead of the XDG directories; it must be readable by you only"],
  ["XDG_STATE_HOME, XDG_DATA_HOME", "without REEVE_HOME: where the database and the sessions' files are kept"],
  ["XDG_CONFIG_HOME", "where Reeve looks for config.toml and rules, and puts the systemd unit"],
  ["XDG_RUNTIME_DIR", "where the sockets are"],
  ["XDG_CACHE_HOME", "where the compiled program is kept, so that commands start fast"],
  ["NO_COLOR", "if it is not empty, nothing is printed in colour"],
  ["COLUMNS", "the width of tables if the output is not a terminal"],
  ["REEVE_SESSION_ID", "set inside a session: its id; a session that is started there counts as its child"],
  ["REEVE_PASS, REEVE_SOCKET", "set inside a session: reeve calls as that session, for itself and for what it started"],
  ["REEVE_MARK", "set inside a session: Reeve finds the session's processes by it; do not change it"],
];

const VARIABLE_NOTES = [
  "A session gets the environment of the shell that starts it, and what you give with --env and --env-file.",
  "The daemon keeps the PATH of the shell that started it. If you install tmux in another directory, run reeve daemon stop; the next command starts the daemon with your PATH.",
];

function filesOf(environment: Environment): TopicText["rows"] {
  const { stateDir, runDir, outputsDir, configPath, socketPath, logPath } = locateHome(environment);
  return [
    [configPath, "your settings, see reeve help settings; screen rules are in rules/ beside it"],
    [stateDir, "the database reeve.db and the daemon's files"],
    [logPath, "what the daemon did; the first place to look when something is wrong"],
    [socketPath, "the HTTP API, which only you can open"],
    [runDir, "sockets and locks, created again at every start"],
    [`${outputsDir}/agents/<role>/<session-id>`, "one session: state.json, output.log, screen.txt"],
  ];
}

const FILE_NOTES = [
  "Only you can read any of them. reeve uninstall --data deletes them, except your settings and rules.",
  "An agent's own files (~/.claude, ~/.codex, ~/.gemini) belong to the agent; Reeve does not change your settings there.",
];

export const SETTINGS: readonly { readonly name: string; readonly value: string; readonly meaning: string }[] = [
  { name: "end_grace_seconds", value: "10", meaning: "how long a session may take to end before it is killed" },
  { name: "health_interval_seconds", value: "5", meaning: "how often tmux is asked even if it reported nothing" },
  {
    name: "orphan_grace_seconds",
    value: "600",
    meaning: "how long a left-over process that belongs to no session is left alone",
  },
  { name: "sweep_interval_seconds", value: "60", meaning: "how often Reeve looks for such processes" },
  {
    name: "output_log_bytes",
    value: "1048576",
    meaning: "the largest size of a session's output.log; then a new one begins, and one older file is kept",
  },
  {
    name: "stall_seconds",
    value: "600",
    meaning: "a turn counts as stalled if nothing was heard from it for this long",
  },
  {
    name: "background_seconds",
    value: "300",
    meaning: "how long at most a turn stays open for a command in the background",
  },
  {
    name: "start_patience_seconds",
    value: "60",
    meaning: "how long Reeve retries a failing start, and how long an agent may take to be ready",
  },
  {
    name: "wakes",
    value: "true",
    meaning: "wake a session when something happens to the sessions that it started, or when it gets mail",
  },
  {
    name: "cgroups",
    value: "true",
    meaning: "give each session a cgroup of its own where the system allows it: see `reeve doctor`",
  },
  {
    name: "typing_pause_seconds",
    value: "5",
    meaning: "how long messages wait after a person pressed a key in the terminal",
  },
  {
    name: "most_depth",
    value: "3",
    meaning: "how many times in a row a session may start sessions that start sessions",
  },
  {
    name: "most_descendants",
    value: "50",
    meaning: "how many living sessions may come from one session that you started",
  },
  {
    name: "mail",
    value: '"any"',
    meaning: 'whom a session may send mail: "any", "family" (same first ancestor), "operator"',
  },
];

const SETTING_NOTES = [
  "Put them into the table [sessions]; these are their defaults. [agent.<name>] sets the command of an agent, or declares a new one.",
  "The daemon reads the file when it starts. After a change, run reeve daemon stop; your sessions go on.",
];
