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
        title: "What reeve's exit codes mean, for every command.",
        rows: EXIT_CODES.map(({ code, name, meaning }) => [`${code}`.padStart(3), `${name}: ${meaning}`]),
        notes: EXIT_CODE_NOTES,
      };
    case "environment":
      return { title: "Environment variables that reeve reads or sets.", rows: VARIABLES, notes: VARIABLE_NOTES };
    case "files":
      return { title: "Where Reeve keeps things, for you and here.", rows: filesOf(environment), notes: FILE_NOTES };
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
  ["REEVE_HOME", "a directory for everything of one daemon, instead of the XDG directories; only you may read it"],
  ["XDG_STATE_HOME, XDG_DATA_HOME", "where the database and what sessions leave behind are kept without REEVE_HOME"],
  ["XDG_CONFIG_HOME", "where config.toml, rules and the systemd unit are looked for"],
  ["XDG_RUNTIME_DIR", "where the sockets are"],
  ["XDG_CACHE_HOME", "where the compiled program is kept, so that commands start fast"],
  ["NO_COLOR", "if it is not empty, nothing is printed in colour"],
  ["COLUMNS", "the width of tables when the output is no terminal"],
  ["REEVE_SESSION_ID", "set inside a session: its id; a session started from there is its child"],
  [
    "REEVE_PASS, REEVE_SOCKET",
    "set inside a session: with them reeve calls as that session, for itself and what it started",
  ],
  ["REEVE_MARK", "set inside a session: by it Reeve finds the session's processes; do not change it"],
];

const VARIABLE_NOTES = [
  "A session gets the environment of the shell that starts it, and what you give with --env and --env-file.",
  "The daemon keeps the PATH of whoever started it. After you installed tmux elsewhere: reeve daemon stop",
];

function filesOf(environment: Environment): TopicText["rows"] {
  const { stateDir, runDir, outputsDir, configPath, socketPath, logPath } = locateHome(environment);
  return [
    [configPath, "your settings, see reeve help settings; screen rules are in rules/ beside it"],
    [stateDir, "the database reeve.db and the daemon's files"],
    [logPath, "what the daemon did; the first place to look when something is wrong"],
    [socketPath, "the HTTP API, which only you can open"],
    [runDir, "sockets and locks, made anew at every start"],
    [`${outputsDir}/agents/<role>/<session-id>`, "one session: state.json, output.log, screen.txt"],
  ];
}

const FILE_NOTES = [
  "Only you can read any of them. reeve uninstall --data deletes them, except your settings and rules.",
  "An agent's own files (~/.claude, ~/.codex, ~/.gemini) belong to the agent; Reeve does not change your settings there.",
];

export const SETTINGS: readonly { readonly name: string; readonly value: string; readonly meaning: string }[] = [
  { name: "end_grace_seconds", value: "10", meaning: "between asking a session to end and killing it" },
  { name: "health_interval_seconds", value: "5", meaning: "how often tmux is asked although it reported nothing" },
  {
    name: "orphan_grace_seconds",
    value: "600",
    meaning: "how long a left-over process that belongs to no session is left alone",
  },
  { name: "sweep_interval_seconds", value: "60", meaning: "how often such processes are looked for" },
  {
    name: "output_log_bytes",
    value: "1048576",
    meaning: "a session's output.log is turned over at this size; one older file is kept",
  },
  { name: "stall_seconds", value: "600", meaning: "a turn of which nothing was heard for so long has stalled" },
  {
    name: "background_seconds",
    value: "300",
    meaning: "a command that an agent left running in the background holds its turn open for so long at most",
  },
  {
    name: "start_patience_seconds",
    value: "60",
    meaning: "how long a start may fail before Reeve gives up, and an agent may take to say it is ready",
  },
  {
    name: "cgroups",
    value: "true",
    meaning: "give each session a cgroup of its own where the system allows it: see `reeve doctor`",
  },
  {
    name: "typing_pause_seconds",
    value: "5",
    meaning: "a person who is typing in the pane holds messages back for so long after each key",
  },
  {
    name: "most_depth",
    value: "3",
    meaning: "a session may start sessions that start sessions, so many times in a row",
  },
  {
    name: "most_descendants",
    value: "50",
    meaning: "a session and those that it started may have so many living sessions below it",
  },
];

const SETTING_NOTES = [
  "They belong into the table [sessions] and are shown with their defaults. [agent.<name>] sets the command of an agent, or declares a new one.",
  "The daemon reads the file when it starts. After a change: reeve daemon stop; your sessions run on.",
];
