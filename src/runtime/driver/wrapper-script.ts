/**
 * The shell script between tmux and the program of a session. It exists
 * because tmux continues a direct child that was stopped (so suspending needs
 * a grandchild), and because tmux puts variables of its own into a pane.
 *
 * It must never interpret an argument: they arrive as positional parameters and
 * are passed on with `exec "$@"`, which never runs a builtin of the shell.
 */

import { MOST_PACKED, PACKED_VARIABLE } from "./packed-arguments.ts";

const PACKED = Array.from({ length: MOST_PACKED }, (_, index) => `${PACKED_VARIABLE}${index}`);

/** tmux overwrites SHELL in every pane; the session's own value travels under this name. */
export const SHELL_VARIABLE = "REEVE_PANE_SHELL";

/**
 * A trap with a command, not an ignored signal: the child starts with the
 * default action, while this shell outlives it and reports its status. The
 * arguments are the mark, by which tmux knows later what it started (pane.ts),
 * the cgroup, the directory, the separator of a command that is packed (else
 * nothing), then the command (packed-arguments.ts). HUP is not trapped: when the
 * terminal is gone the kernel tells only this shell, and its death tells the
 * program; one that is deaf to that is swept by mark.
 *
 * The program enters its cgroup itself, before it is the program; this shell
 * stays outside, so that it can report how it ended. One that cannot enter
 * runs without: the cgroup is removed, and what has none is not said to be
 * proven by it. If not even that can be done, the session is being ended.
 *
 * tmux closes the terminal of a child that ended without reading what was
 * printed last (3.3a: one last line in a hundred was lost on a quiet machine,
 * one in five among many; "right before it ends" in test/conformance proves
 * it). So the terminal is asked for its status (CSI 5n), and the answer shows
 * that everything before the question was read. A tmux that must share two
 * cores with twenty others takes longer than 0.3 s now and then (a last line in
 * some hundreds was lost); after 5 s it is stopped or hangs, and nobody sees the
 * line anyway. In the background the terminal may not be used: then it fails
 * at once instead of stopping the shell.
 *
 * The `read` in the background holds the terminal open a moment longer than
 * this shell lives, and ends when tmux closes it or after 5 s. Otherwise tmux
 * would see the terminal close first, and while it then runs its utempter
 * helper it ignores SIGCHLD: about one exit in five was never reaped (3.3a on
 * Debian 12, seen with strace; "notices each exit" in test/conformance proves it).
 */
export const WRAPPER_SCRIPT = `#!/bin/sh
trap : INT QUIT TERM
cd -- "$3" || { echo "reeve: cannot enter the session's directory" >&2; exit 126; }
if [ "\${${SHELL_VARIABLE}+set}" ]; then SHELL=$${SHELL_VARIABLE}; export SHELL; else unset SHELL; fi
unset ${SHELL_VARIABLE} TMUX TMUX_PANE TERM_PROGRAM TERM_PROGRAM_VERSION OLDPWD
(
  if [ -n "$2" ]; then
    { echo 0 >"$2/cgroup.procs"; } 2>/dev/null || command -p rmdir -- "$2" 2>/dev/null || {
      echo "reeve: cannot enter the session's cgroup" >&2
      exit 126
    }
  fi
  if [ -n "$4" ]; then
    set -f
    IFS=$4
    set -- ${PACKED.map((name) => `$${name}`).join("")}
    unset IFS ${PACKED.join(" ")}
  else
    shift 4
  fi
  exec "$@"
)
status=$?
trap '' HUP INT QUIT TERM TTIN TTOU
PATH=/bin:/usr/bin:$PATH
stty -echo -icanon min 0 time 50 2>/dev/null && printf '\\033[5n' && dd bs=16 count=1 >/dev/null 2>&1
exec 3<&0
read -r _ <&3 &
exit "$status"
`;
