/**
 * A person at a terminal of 80 x 24: a real bash in a tmux of its own, a home
 * directory without anything of Reeve's, and no variables of the tests. Lines
 * are typed as a person does: key by key, then Enter, the next only when the
 * prompt is back and after a moment of reading.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../support/eventually.ts";
import type { Result } from "../support/test-home.ts";
import { runProgram } from "../support/test-home.ts";

export const COLUMNS = 80;
const ROWS = 24;
const PROMPT = "you@laptop$ ";

/** What came of one line. */
export interface Seen {
  readonly line: string;
  readonly status: number;
  /** Everything that was printed after it, also what has scrolled off; a line that the terminal broke is one line. */
  readonly printed: readonly string[];
}

export interface Newcomer {
  /** Types the line, and waits until the prompt is back. */
  enter(line: string): Promise<Seen>;
  /** Types the line, whose program takes over the terminal. */
  open(line: string): Promise<void>;
  press(...keys: readonly string[]): Promise<void>;
  /** The screen, once it holds this. */
  shows(what: RegExp): Promise<string>;
  /** As a command of the same person in another window, unseen. */
  run(command: string, args: readonly string[]): Promise<Result>;
  close(): Promise<void>;
}

export interface NewcomerOptions {
  /** Everything of this person lies below it. */
  readonly directory: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Between the prompt and the next word: long enough to read a line. */
  readonly pauseMs: number;
}

export async function sitDown(options: NewcomerOptions): Promise<Newcomer> {
  const { directory, cwd, environment, pauseMs } = options;
  mkdirSync(directory, { recursive: true });
  const socket = join(directory, "terminal.sock");
  const statuses = join(directory, "statuses");
  const profile = join(directory, "profile");
  writeFileSync(statuses, "");
  // The shell tells the test how a line ended, where the person does not see it.
  writeFileSync(profile, `PS1='${PROMPT}'\nPROMPT_COMMAND='echo $? >> ${statuses}'\nset +o history\n`);
  const tmux = (...args: readonly string[]): Promise<Result> =>
    runProgram("tmux", ["-S", socket, ...args], environment);
  const shell = `cd '${cwd}' && exec env -u TMUX -u TMUX_PANE bash --noprofile --rcfile '${profile}' -i`;
  const size = ["-x", String(COLUMNS), "-y", String(ROWS)];
  const { status, stderr } = await tmux("-f", "/dev/null", "new-session", "-d", ...size, shell);
  if (status !== 0) throw new Error(`tmux: ${stderr}`);
  // The whole window is the person's, and what scrolls off is kept for the test.
  await tmux("set-option", "-g", "status", "off");
  await tmux("resize-window", ...size);

  const prompts = (): readonly number[] =>
    readFileSync(statuses, "utf8").trim().split("\n").filter(Boolean).map(Number);
  const whole = async (): Promise<string> => (await tmux("capture-pane", "-p", "-J", "-S", "-")).stdout.trimEnd();
  const screen = async (): Promise<string> => (await tmux("capture-pane", "-p")).stdout.trimEnd();
  const read = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, pauseMs));
  const type = async (line: string): Promise<void> => {
    await tmux("send-keys", "-l", "--", line);
    await tmux("send-keys", "Enter");
  };
  await eventually("the shell is there", () => prompts().length === 1);

  return {
    async enter(line) {
      await read();
      const before = prompts().length;
      await tmux("clear-history");
      await type(line);
      const end = await eventually(`the prompt is back after ${line}`, () => prompts()[before] ?? null, 150_000).catch(
        async (error: unknown) => {
          throw new Error(`${String(error)}; the screen shows:\n${await screen()}`);
        },
      );
      const text = await eventually("the prompt is drawn", async () => {
        const now = await whole();
        return now.endsWith(PROMPT.trimEnd()) && now;
      });
      const lines = text.split("\n").map((one) => one.trimEnd());
      const typedAt = lines.lastIndexOf(`${PROMPT}${line}`);
      if (typedAt === -1) throw new Error(`The line is not on the screen:\n${text}`);
      return { line, status: end, printed: lines.slice(typedAt + 1, -1) };
    },
    async open(line) {
      await read();
      await type(line);
    },
    async press(...keys) {
      for (const key of keys) {
        await read();
        await tmux("send-keys", key);
      }
    },
    async shows(what) {
      let last = "";
      const look = async (): Promise<string | false> => {
        last = await screen();
        return what.test(last) && last;
      };
      return await eventually(`the screen shows ${String(what)}`, look, 30_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; it shows:\n${last}`);
      });
    },
    run: (command, args) => runProgram(command, args, environment),
    async close() {
      await tmux("kill-server");
    },
  };
}
