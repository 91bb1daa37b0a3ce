/**
 * A notification on the desktop: `notify-send` on Linux, `terminal-notifier` or
 * `osascript` on macOS. Texts are arguments, never part of a script. Decides
 * which program to run; own-program.ts runs it.
 */
import { statSync } from "node:fs";
import type { Notification } from "../../fleet/notification.ts";
import { findExecutable } from "../../platform/executable.ts";
import type { InboxUrgency } from "../../session/inbox-kind.ts";
import { escapeMarkup } from "./markup.ts";
import type { ProgramCall } from "./own-program.ts";

type Environment = Readonly<Record<string, string>>;

const BUS_VARIABLE = "DBUS_SESSION_BUS_ADDRESS";

/** critical stays on the screen until somebody has seen it. */
const URGENCY = { blocked: "critical", failed: "normal", finished: "low", other: "low" } as const satisfies Record<
  InboxUrgency,
  string
>;

export interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly environment: Environment;
  /** As config.toml has it. */
  readonly bus: string | null;
}

/** Throws a sentence where nothing can be shown. */
export function desktopCall(notification: Notification, desktop: Desktop): ProgramCall {
  return desktop.platform === "darwin" ? macCall(notification, desktop) : linuxCall(notification, desktop);
}

function linuxCall({ title, text, urgency }: Notification, desktop: Desktop): ProgramCall {
  const program = find("notify-send", desktop);
  if (program === null)
    throw new Error("there is no notify-send on the daemon's PATH; install it (Debian and Ubuntu: libnotify-bin)");
  const bus = busOf(desktop);
  if (bus === null)
    throw new Error(
      `the daemon was started outside of a desktop session: ${BUS_VARIABLE} is not set. Start it from your desktop (reeve daemon restart), or give the address in "bus"`,
    );
  return {
    argv: [program, "--app-name=reeve", `--urgency=${URGENCY[urgency]}`, "--", title, escapeMarkup(text)],
    environment: { ...desktop.environment, [BUS_VARIABLE]: bus },
    input: "",
  };
}

/** The daemon may have been started without the variable, from ssh or cron; then the usual place is looked at. */
function busOf({ bus, environment }: Desktop): string | null {
  const known = bus ?? environment[BUS_VARIABLE];
  if (known !== undefined && known !== "") return known;
  const path = `${environment["XDG_RUNTIME_DIR"] ?? `/run/user/${process.getuid?.() ?? ""}`}/bus`;
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true ? `unix:path=${path}` : null;
}

function macCall({ id, title, text }: Notification, desktop: Desktop): ProgramCall {
  const { environment } = desktop;
  const notifier = find("terminal-notifier", desktop);
  // It takes a text that begins with a bracket for something else, unless there is a backslash before it.
  const plain = (words: string): string => (words.startsWith("[") ? `\\${words}` : words);
  if (notifier !== null)
    return { argv: [notifier, "-group", id, "-title", plain(title), "-message", plain(text)], environment, input: "" };
  const lines = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
  return {
    argv: [find("osascript", desktop) ?? "/usr/bin/osascript", ...lines.flatMap((line) => ["-e", line]), title, text],
    environment,
    input: "",
  };
}

function find(program: string, { environment }: Desktop): string | null {
  return findExecutable(program, { cwd: "/", path: environment["PATH"] });
}
