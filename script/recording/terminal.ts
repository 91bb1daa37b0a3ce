/**
 * The terminal that is recorded: a tmux server of its own with one shell, keys
 * that are pressed in it, and what is on its screen. Nothing is shot before the
 * screen shows what it is shot for.
 */
import { join } from "node:path";
import { eventually } from "../../test/support/eventually.ts";
import { runProgram } from "../../test/support/test-home.ts";

export interface Shot {
  /** The lines of the screen, with SGR sequences that carry on from line to line. */
  readonly lines: readonly string[];
  readonly cursor: { readonly column: number; readonly row: number } | null;
}

export interface Terminal {
  shoot(): Promise<Shot>;
  /** Waits until this is on the screen; answers with what it found. */
  shows(what: RegExp): Promise<string>;
  /** Waits until this is the last that is on the screen. */
  ends(text: string): Promise<void>;
  type(text: string): Promise<void>;
  /** A key by tmux's name. */
  press(key: string): Promise<void>;
  close(): Promise<void>;
}

export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  /** Where its socket may lie. */
  readonly directory: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly shell: string;
}

/** An agent that starts on a busy machine takes its time. */
const PATIENCE_MS = 60_000;

export async function openTerminal(options: TerminalOptions): Promise<Terminal> {
  const { columns, rows, directory, cwd, environment, shell } = options;
  const tmux = async (...args: readonly string[]): Promise<string> => {
    const { status, stdout, stderr } = await runProgram(
      "tmux",
      ["-S", join(directory, "rec.sock"), ...args],
      environment,
    );
    if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const size = ["-x", String(columns), "-y", String(rows)];
  await tmux("-f", "/dev/null", "new-session", "-d", ...size, "-c", cwd, `env -u TMUX -u TMUX_PANE ${shell}`);
  await tmux("set-option", "-g", "status", "off");
  await tmux("set-option", "-g", "window-size", "manual");
  await tmux("resize-window", ...size);
  const until = async (what: string, holds: (screen: string) => boolean): Promise<string> => {
    let last = "";
    const look = async (): Promise<string | false> => holds((last = await tmux("capture-pane", "-p"))) && last;
    return await eventually(`the terminal ${what}`, look, PATIENCE_MS).catch((error: unknown) => {
      throw new Error(`${String(error)}; it shows:\n${last}`);
    });
  };
  return {
    async shoot() {
      const cursor = "#{cursor_flag} #{cursor_x} #{cursor_y}";
      const [head = "", ...lines] = (
        await tmux("display-message", "-p", cursor, ";", "capture-pane", "-p", "-e", "-N")
      ).split("\n");
      const [isVisible, column, row] = head.split(" ").map(Number);
      return {
        lines: lines.slice(0, rows),
        cursor: isVisible === 1 && column !== undefined && row !== undefined ? { column, row } : null,
      };
    },
    async shows(what) {
      const screen = await until(`shows ${String(what)}`, (shown) => what.test(shown));
      return what.exec(screen)?.[0] ?? "";
    },
    ends: async (text) => void (await until(`ends with ${text}`, (screen) => screen.trimEnd().endsWith(text))),
    type: async (text) => void (await tmux("send-keys", "-l", "--", text)),
    press: async (key) => void (await tmux("send-keys", key)),
    close: async () => void (await tmux("kill-server")),
  };
}
