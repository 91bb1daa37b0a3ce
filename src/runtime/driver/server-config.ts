/**
 * What our tmux server is started with: its options, its environment and its
 * command line. Pure text and argument vectors; runs nothing.
 */
import type { AttachOptions, TakenKeys } from "../contract.ts";

export const ANCHOR = "reeve-anchor";

/**
 * The anchor holds no session of ours: it keeps the server up and is where the
 * control client stands. Its process uses no program beside the shell, carries
 * no mark, and ends with its terminal.
 */
const ANCHOR_COMMAND = ["/bin/sh", "-c", "while read -r line; do :; done"] as const;

/**
 * Variables that reach tmux's global environment and must not reach a session:
 * ours below, what tmux adds itself, and what systemd-run adds.
 */
const NOT_FOR_SESSIONS = [
  "PWD",
  "OLDPWD",
  "SHLVL",
  "_",
  "INVOCATION_ID",
  "SYSTEMD_EXEC_PID",
  "MANAGERPID",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
];

/** As little as tmux needs. REEVE_MARK must never be among it: the server outlives every session. */
export function serverEnvironment(ours: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = { TERM: "xterm-256color", SHELL: "/bin/sh" };
  for (const [name, value] of Object.entries(ours)) {
    if (value === undefined) continue;
    if (name === "PATH" || name === "HOME" || name === "LANG" || name.startsWith("LC_")) kept[name] = value;
  }
  return kept;
}

/**
 * `-q` marks options that a supported version does not know. The hook tells of
 * a dead pane at once: with remain-on-exit tmux sends no notification of its
 * own, and what a hook does is not notified either (3.3a: CMDQ_STATE_NOHOOKS)
 * unless run-shell -b takes it out of the hook. So the dead pane's window gets
 * the name "ended", which control clients are told with the window's id. No
 * other text may enter that command: tmux parses and expands it again.
 *
 * Keys that come within a millisecond, over a slow line or on a busy machine,
 * are keys: by default tmux takes them for a paste, and detaching would fail.
 */
export function serverConfig(environment: Readonly<Record<string, string>>): string {
  const unset = [...Object.keys(environment), ...NOT_FOR_SESSIONS].filter((name) => name !== "TERM");
  return `# Written by Reeve at each start of its tmux server; changes are lost.
set -s exit-empty off
set -s exit-unattached off
set -s escape-time 10
set -s focus-events on
set -s set-clipboard off
set -s default-terminal tmux-256color
set -g assume-paste-time 0
set -g default-shell /bin/sh
set -g update-environment ''
set -g destroy-unattached off
set -g history-limit 5000
set -g default-size 200x50
set -g base-index 0
set -g renumber-windows off
set -g set-titles off
set -g mouse on
set -g window-size latest
set -g status-interval 0
set -g status-style default
set -g status-left '#{window_name} (#{session_name}) '
set -g status-left-length 70
set -g status-right-length 60
set -g status-right "${DETACH_HINT}"
set -g window-status-format ''
set -g window-status-current-format ''
set -wg remain-on-exit on
set -wgq remain-on-exit-format ''
set -wg allow-rename off
set -wg automatic-rename off
set-hook -g pane-died "run-shell -b -C \\"rename-window -t '#{window_id}' ended\\""
${unset.map((name) => `set-environment -gu ${name}`).join("\n")}
`;
}

/** The server's own prefix, and what leaves a session. */
const PREFIX = "C-b";

/**
 * Whoever attaches from inside a tmux of their own may need other keys, and the status line is drawn for each client: so
 * it looks up the client's terminal in this option (`<tty=keys>` for each that is not as usual), which is set as it attaches.
 */
const KEYS_OPTION = "@reeve-detach-keys";
const DETACH_HINT = `#{?#{m:*<#{client_tty}=*,#{${KEYS_OPTION}}},#{s|^.*<#{client_tty}=([^>]*)>.*$|\\\\1|:${KEYS_OPTION}},detach: ${PREFIX} d}`;

/** What leaves a session, pressed in a terminal that keeps these keys for itself; null: nothing does. */
export function detachKeys(taken: TakenKeys): string | null {
  const pass = taken[PREFIX];
  if (pass === undefined) return `${PREFIX} d`;
  return pass === null ? null : `${pass} d`;
}

/** Attaches a person's terminal, and has its status line show the keys that work there. */
export function personArguments(
  paths: Pick<ServerPaths, "binary" | "socket">,
  session: string,
  taken: TakenKeys,
  { isReadOnly = false }: AttachOptions = {},
): readonly string[] {
  const detach = detachKeys(taken);
  const isUsual = detach === `${PREFIX} d`;
  const hint = detach === null ? `your tmux keeps ${PREFIX}` : `detach: ${detach}`;
  const others = `#{s|<#{client_tty}=[^>]*>||:${KEYS_OPTION}}`;
  const attach = [
    paths.binary,
    "-u",
    "-N",
    "-S",
    paths.socket,
    "attach-session",
    ...(isReadOnly ? ["-r"] : []),
    "-t",
    session,
  ];
  return [...attach, ";", "set-option", "-sF", KEYS_OPTION, isUsual ? others : `${others}<#{client_tty}=${hint}>`];
}

export interface ServerPaths {
  readonly binary: string;
  readonly socket: string;
  readonly config: string;
}

export function startArguments(paths: ServerPaths): readonly string[] {
  return [paths.binary, "-u", "-S", paths.socket, "-f", paths.config, ...newAnchor()];
}

/** Puts the anchor back into a server that lost it to someone's kill-session. */
export function restoreAnchorArguments(paths: ServerPaths): readonly string[] {
  return [paths.binary, "-u", "-N", "-S", paths.socket, ...newAnchor()];
}

/** The same as a line of a configuration, for a server that is started without a command. */
export function anchorCommand(): string {
  return newAnchor()
    .map((word) => (/^[\w=-]+$/.test(word) ? word : `'${word}'`))
    .join(" ");
}

function newAnchor(): readonly string[] {
  return ["new-session", "-d", "-s", ANCHOR, "-n", "anchor", "-x", "200", "-y", "50", "--", ...ANCHOR_COMMAND];
}

/**
 * `-N`: attaching would start a server where none runs. `pause-after`: for a
 * reader that stalls, tmux 3.3a sometimes holds the pane back and sometimes
 * queues without bound (166 MB after 20 s of flood); so it keeps 10 s at most.
 * Where a pause leaves the connection without answers (seen once in six), the
 * time-out in control-connection.ts ends it and a new one takes over.
 */
export function attachArguments(paths: ServerPaths): readonly string[] {
  const attach = ["attach-session", "-f", "ignore-size,pause-after=10", "-t", `=${ANCHOR}`];
  return [paths.binary, "-u", "-N", "-S", paths.socket, "-C", ...attach];
}

export type SystemdManager = "none" | "user" | "system";

/**
 * A scope of its own, because logind kills what is left in the login's when a
 * person logs out; delegated to us, because sessions get cgroups in it. No two
 * have the same name: what a killed server left behind keeps its scope alive.
 */
export function scopedArguments(manager: SystemdManager, unit: string, argv: readonly string[]): readonly string[] {
  if (manager === "none") return argv;
  const where = manager === "user" ? ["--user"] : [];
  const scope = ["--scope", "--quiet", "--collect", "--property=Delegate=yes", `--unit=${unit}`];
  return ["systemd-run", ...where, ...scope, "--", ...argv];
}
