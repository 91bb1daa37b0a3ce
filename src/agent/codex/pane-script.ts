/**
 * The shell script that runs in the pane of an app-server session and owns
 * both of its processes, Codex's server and Codex's TUI. Three shells in one
 * pipeline, so that each is told by the end of a pipe when another is gone:
 *
 *     server's shell ──pipe──▶ TUI's shell ──pipe──▶ last shell
 *
 * The server dies: the first pipe ends, and the watch in the second shell ends
 * the bootstrap, which waits for it, or the TUI (which by itself would try to
 * reconnect for half a minute, 0.166.0).
 * The TUI dies, or its shell: the second pipe ends, and the last shell ends
 * both. So the pane ends, with the TUI's status, whichever is killed.
 *
 * A pipeline and not `&`: a shell without job control starts background
 * commands with SIGINT ignored, and all that the server runs would inherit it.
 * Neither pipe reaches the server or the TUI, whose children could keep it
 * open.
 */
import { shellQuote, shellWords } from "../../platform/shell-quote.ts";

export interface PaneScript {
  readonly codex: string;
  readonly socket: string;
  /** Holds the pids of the two while they run. */
  readonly sessionDir: string;
  /** What the server prints goes there; null: into codex-server.log of its directory. */
  readonly logPath?: string | null;
  readonly serverArgs: readonly string[];
  readonly tuiArgs: readonly string[];
  /** Prints `<thread id> prompt` when the prompt is still to be given, else `<thread id> -`. */
  readonly bootstrap: readonly string[];
  readonly prompt: string | null;
}

export function paneScript({
  codex,
  socket,
  sessionDir,
  logPath,
  serverArgs,
  tuiArgs,
  bootstrap,
  prompt,
}: PaneScript): string {
  const remote = `unix://${socket}`;
  return `#!/bin/sh
# Written by Reeve: one session of Codex, its app-server and its TUI. It ends when either does.
umask 077
socket=${shellQuote(socket)}
server=${shellQuote(`${sessionDir}/codex-server.pid`)}
tui=${shellQuote(`${sessionDir}/codex-tui.pid`)}
log=${shellQuote(logPath ?? `${sessionDir}/codex-server.log`)}
prompt=${shellQuote(prompt ?? "")}
# forget what this leaves, or a killed one before it left: the socket is a link to one in /tmp/codex-daemon-<uid>
forget() {
  target=$(readlink -- "$socket")
  rm -f -- "$socket" "$server" "$tui"
  case $target in */codex-daemon-*/*) rm -f -- "$target" "$target.lock" ;; esac
} 2>/dev/null
forget
exec 3<&0 4>&1

# run FILE COMMAND...: in the foreground, its pid in FILE
run() {
  sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$@"
}
# signal NAME FILE
signal() {
  read -r pid <"$2" && kill -s "$1" "$pid"
} 2>/dev/null
serve() {
  run "$server" ${shellWords([codex, "app-server", ...serverArgs, "--listen", remote])}
}
start() {
  run "$tui" ${shellWords(bootstrap)}
}
# attach THREAD [PROMPT]
attach() {
  run "$tui" ${shellWords([codex, "resume", "--remote", remote, ...tuiArgs])} -- "$@"
}

{
  serve </dev/null >"$log" 2>&1 3<&- 4>&-
} | {
  exec 5>&1 6<&0 >&4
  {
    cat >/dev/null
    tries=0
    until signal TERM "$tui" || [ ! -e "$server" ] || [ "$tries" -ge 100 ]; do
      tries=$((tries + 1))
      sleep 0.1
    done
  } <&6 3<&- 4>&- 5>&- 6<&- &
  if answer=$(start </dev/null 3<&- 4>&- 5>&- 6<&-); then
    set -- "\${answer%% *}"
    [ "\${answer#* }" = prompt ] && set -- "$@" "$prompt"
    attach "$@" <&3 3<&- 4>&- 5>&- 6<&-
    status=$?
  else
    status=1
  fi
  rm -f -- "$tui"
  if ! signal 0 "$server"; then
    echo "reeve: Codex's app-server ended; the end of its output ($log):"
    grep -v -e unknown -e '^Stack backtrace' -e '^WARNING' -e '^$' "$log" | tail -n 5
  fi
  signal TERM "$server"
  echo "$status" >&5
} | {
  # Asked to end, all get the signal at once: this shell stays to see the others off.
  trap : TERM
  status=$(cat)
  signal TERM "$tui"
  signal TERM "$server"
  tries=0
  while signal 0 "$server" && [ "$tries" -lt 30 ]; do
    tries=$((tries + 1))
    sleep 0.1
  done
  signal KILL "$tui"
  signal KILL "$server"
  forget
  exit "\${status:-1}"
}
`;
}
