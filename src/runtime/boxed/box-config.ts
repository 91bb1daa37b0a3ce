/**
 * What a box is started with. A box is whatever holds one incarnation of a
 * session and nothing else: a container, later a pod. Its first program is a
 * tmux server of its own, so that the box ends when the server does. Pure text
 * and argument vectors; runs nothing.
 */
import { anchorCommand, attachArguments, personArguments, serverConfig } from "../driver/server-config.ts";
import type { AttachOptions, TakenKeys } from "../contract.ts";
import type { Passage } from "../passage.ts";
import { passageArguments, passageScript } from "./passage-carrier.ts";

/** A small writable directory of the box's own: tmux's socket and configuration. Everything else of it is read-only. */
export const BOX_RUN_DIR = "/run/reeve";

const PATHS = {
  binary: "tmux",
  socket: `${BOX_RUN_DIR}/tmux.sock`,
  config: `${BOX_RUN_DIR}/tmux.conf`,
} as const;

/** How the first program of a box ends where it has no tmux, and where tmux is too old to stay in the foreground. */
export const WITHOUT_TMUX = 97;

/** What tmux itself is started with; sessions get none of it, nor anything that the image sets. */
const SERVER_VARIABLES = { TERM: "xterm-256color", LANG: "C.UTF-8", SHELL: "/bin/sh", PATH: "" } as const;

/** Ten seconds at least: the server of a box that was just started is up within one, on a busy machine too. */
const LOOKS = 2_000;
const LOOK_SECONDS = "0.005";
const UNTIL_UP = `i=0; until [ -S ${PATHS.socket} ] || [ $i -ge ${LOOKS} ]; do i=$((i+1)); sleep ${LOOK_SECONDS}; done`;

const CHECK = `command -v tmux >/dev/null || exit ${WITHOUT_TMUX}
`;
/**
 * Writes the configuration and becomes the server: `-D` keeps it in the foreground (tmux 3.2 and later). Beside it a
 * control client begins, on the box's own standard input and output: whoever is there when the box starts can speak to
 * the server without being let in a second time. It ends with that input. What is left of the arguments is its command.
 */
const BECOME = `printf %s "$config" >${PATHS.config} || exit 98
exec 3<&0
{ ${UNTIL_UP}; exec "$@"; } <&3 3<&- &
exec env -i PATH="$PATH" TERM=${SERVER_VARIABLES.TERM} LANG=${SERVER_VARIABLES.LANG} SHELL=/bin/sh tmux -u -S ${PATHS.socket} -f ${PATHS.config} -D </dev/null >/dev/null 3<&-`;

/** Server option: the process that keeps the carrier of a passage running. Set before anything else runs. */
export const CARRIER_OPTION = "@reeve-carrier";
const NOTE_CARRIER = `config="set-option -s ${CARRIER_OPTION} $carrier
$1"
`;

export function boxEntry(passage: Passage | null = null): readonly string[] {
  const config = `${serverConfig(SERVER_VARIABLES)}${anchorCommand()}\n`;
  const client = attachArguments(PATHS);
  if (passage === null) return ["/bin/sh", "-c", `${CHECK}config=$1; shift\n${BECOME}`, "reeve", config, ...client];
  const carried = passageArguments();
  const script = `${CHECK}${passageScript(passage)}${NOTE_CARRIER}shift ${1 + carried.length}\n${BECOME}`;
  return ["/bin/sh", "-c", script, "reeve", config, ...carried, ...client];
}

/** Attaches a control client as soon as the server is there. */
export function controlArguments(): readonly string[] {
  return ["/bin/sh", "-c", `${UNTIL_UP}; exec "$@"`, "reeve", ...attachArguments(PATHS)];
}

export function boxAttachArguments(session: string, taken: TakenKeys, options?: AttachOptions): readonly string[] {
  return personArguments(PATHS, session, taken, options);
}
