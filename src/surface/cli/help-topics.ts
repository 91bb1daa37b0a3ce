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
        rows: [
          ...SETTINGS.map(({ name, value, meaning }) => [`${name} = ${value}`, meaning] as const),
          ...TIMEOUT_SETTINGS.map(({ name, value, meaning }) => [`[timeouts] ${name} = ${value}`, meaning] as const),
          ...GIT_SETTINGS.map(({ name, value, meaning }) => [`[git] ${name} = ${value}`, meaning] as const),
          ...QUOTA_SETTINGS.map(({ name, value, meaning }) => [`[quota] ${name} = ${value}`, meaning] as const),
          ...WORK_SETTINGS.map(({ name, value, meaning }) => [`[work] ${name} = ${value}`, meaning] as const),
          ...RETENTION_SETTINGS.map(({ name, value, meaning }) => [`[retention] ${name} = ${value}`, meaning] as const),
        ],
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
    [
      stateDir,
      "the database reeve.db, the search index search.db, what is remembered in memory.db and the daemon's files",
    ],
    [logPath, "what the daemon did; the first place to look when something is wrong"],
    [socketPath, "the HTTP API, which only you can open"],
    [runDir, "sockets and locks, created again at every start"],
    [`${outputsDir}/agents/<role>/<session-id>`, "one session: state.json, output.log, screen.txt"],
    [`${outputsDir}/imported/<import-id>`, "a session from elsewhere, see reeve import"],
  ];
}

const FILE_NOTES = [
  "Only you can read any of them. reeve uninstall --data deletes them, except your settings and rules.",
  "An agent's own files (~/.claude, ~/.codex, ~/.gemini) belong to the agent; Reeve does not change your settings there.",
];

/** In the table [quota]. */
export const TIMEOUT_SETTINGS: readonly Setting[] = [
  {
    name: "start",
    value: "60",
    meaning: "how long an agent may take to be ready, and how long Reeve retries a failing start",
  },
  { name: "turn", value: '"off"', meaning: "how long a turn may last; then it is reported" },
  { name: "idle", value: '"off"', meaning: "how long nothing may happen in an idle session; then it is ended" },
  { name: "approval", value: "900", meaning: "after how long the inbox tells you again that a question waits" },
  { name: "stop_grace", value: "10", meaning: "how long a session may take to end before it is killed" },
  { name: "age", value: '"off"', meaning: "how long after its start a session is ended" },
];

export const QUOTA_SETTINGS: readonly Setting[] = [
  { name: "enabled", value: "true", meaning: "whether sessions wait while a usage limit of their account is reached" },
  { name: "resume", value: "true", meaning: "whether Reeve continues a turn that a usage limit stopped" },
  { name: "stagger_seconds", value: "1", meaning: "how long after one another sessions continue after a reset" },
  {
    name: "retry_seconds",
    value: "60",
    meaning: "the first wait if nobody says when a limit resets; it doubles up to an hour",
  },
];

/** In the table [work]. */
export const WORK_SETTINGS: readonly Setting[] = [
  { name: "most_workers", value: "4", meaning: "how many workers may have an item of the queue at once" },
  {
    name: "verify_timeout_seconds",
    value: "600",
    meaning: "how long the verification command of an item may take",
  },
];

/** In the table [retention]. */
export const RETENTION_SETTINGS: readonly Setting[] = [
  {
    name: "enabled",
    value: "true",
    meaning: "whether Reeve removes by itself what is over and old; `reeve prune` does it in any case",
  },
  {
    name: "ended_days",
    value: "30",
    meaning: "how long sessions that were ended are kept, with their directories and messages",
  },
  { name: "ended_sessions", value: "2000", meaning: "how many of them at most" },
  { name: "outputs_megabytes", value: "2048", meaning: "how much their directories may hold together" },
  { name: "unread_mail_days", value: "90", meaning: "how long an ended session stays that has unread mail" },
  { name: "events_days", value: "30", meaning: "how long events are kept" },
  { name: "events", value: "500000", meaning: "how many of them at most" },
  { name: "mail_days", value: "30", meaning: "how long mail is kept that was read, archived or retracted" },
  { name: "mails", value: "10000", meaning: "how many of them at most" },
  { name: "work_days", value: "90", meaning: "how long items of work are kept that are done or were cancelled" },
  { name: "work_items", value: "10000", meaning: "how many items of work at most, open ones included" },
];

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly meaning: string;
}

export const SETTINGS: readonly Setting[] = [
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
    name: "wakes",
    value: "true",
    meaning: "wake a session when something happens to the sessions that it started, or when it gets mail",
  },
  {
    name: "recovery_wakes",
    value: "true",
    meaning:
      "tell a session that Reeve itself restarted in the middle of a turn; also in [agent.<name>] and [role.<name>]",
  },
  {
    name: "memory_reminder",
    value: "false",
    meaning:
      "remind a session that remembered nothing in a turn, once, at its end; also in [agent.<name>] and [role.<name>]",
  },
  {
    name: "cgroups",
    value: "true",
    meaning: "give each session a cgroup of its own where the system allows it: see `reeve doctor`",
  },
  {
    name: "persist_session",
    value: "false",
    meaning: "keep everything about each session in its directory: see `reeve start --help`",
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

/** Of the table [git]. The place of worktrees has no default that can be written down. */
/** In the table [git]; where worktrees are put has no default. */
export const GIT_SETTINGS: readonly Setting[] = [
  {
    name: "branch_policy",
    value: '"warn"',
    meaning: 'when another branch is checked out than a session declared: "warn", "pause", "error"',
  },
  {
    name: "shared_checkouts",
    value: "false",
    meaning: "let others work in the checkout of a session that declared its branch: see branches.md",
  },
  { name: "fetch", value: "false", meaning: "fetch from the remote before a worktree is made" },
  {
    name: "symlink_directories",
    value: "[]",
    meaning: "directories that a worktree gets as links to those of the main checkout",
  },
  {
    name: "disposable",
    value:
      '["node_modules", "__pycache__", ".venv", ".tox", ".gradle", ".next", ".turbo", ".pytest_cache", ".mypy_cache", ".ruff_cache"]',
    meaning: "directories that may be deleted with a worktree, if git ignores them",
  },
];

const SETTING_NOTES = [
  "Put them into the table [sessions], or into the one that stands before them; these are their defaults. [agent.<name>] sets the command of an agent, or declares a new one. In it and in [role.<name>], restart sets the restart policy of its sessions, and most_workers how many of them may have an item of the queue at once. worktrees_dir in [git] says where worktrees are put; without it they are put beside the repository. chroma in [memory] is the address of a Chroma server. [docker] has the defaults of sessions in containers: host, image, memory, cpus, pids, network and workspaces; [role.<name>] may also set runtime and image.",
  "Each [[notify]] is a way to tell you that something needs you, and each [[approval]] a rule that answers questions of agents for you.",
  "The daemon reads the file when it starts. After a change, run reeve daemon stop; your sessions go on.",
];
