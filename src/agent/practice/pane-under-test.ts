/** For tests: the practice program in a real pane, on a tmux server of the test's own. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HookRecord } from "./hook-record.ts";
import type { TranscriptLine } from "./transcript-line.ts";

export const CONVERSATION = "0f8fad5b-d9cb-469f-a165-70867728950e";
export const PROGRAM = join(import.meta.dirname, "program.ts");

/** A loaded machine may take seconds to start Node; a correct program never needs it all. */
const DEADLINE_MS = 20_000;
const LOOK_MS = 15;

export interface PaneUnderTest {
  readonly directory: string;
  readonly pid: number;
  tmux(...args: string[]): string;
  /** As Reeve types a message: one bracketed paste, then Enter. */
  submit(text: string): void;
  keys(...keys: string[]): void;
  title(): string;
  screen(): string;
  hooks(): HookRecord[];
  transcript(): TranscriptLine[];
  waitForHook(event: HookRecord["event"], times?: number): Promise<HookRecord>;
  waitForExit(): Promise<number>;
  close(): Promise<void>;
}

export async function openPane(args: readonly string[] = [], directory = newDirectory()): Promise<PaneUnderTest> {
  const socket = join(directory, "s");
  const spool = join(directory, "spool");
  const transcriptPath = join(directory, "transcript.jsonl");
  mkdirSync(spool, { recursive: true });
  const program = [
    process.execPath,
    PROGRAM,
    "--conversation",
    CONVERSATION,
    "--transcript",
    transcriptPath,
    "--spool",
    spool,
  ];

  function tmux(...command: string[]): string {
    return run(["-S", socket, "-f", "/dev/null", ...command], directory);
  }
  const pane = ["-t", "practice:0.0"];
  const show = (format: string): string => tmux("display-message", "-p", ...pane, format).trim();
  const hooks = (): HookRecord[] =>
    wholeFilesIn(spool).map((name) => JSON.parse(readFileSync(join(spool, name), "utf8")) as HookRecord);

  tmux(
    "set-option",
    "-g",
    "remain-on-exit",
    "on",
    ";",
    "new-session",
    "-d",
    "-s",
    "practice",
    "-x",
    "100",
    "-y",
    "30",
    ...program,
    "--pace",
    "40",
    ...args,
  );
  const opened: PaneUnderTest = {
    directory,
    pid: Number(show("#{pane_pid}")),
    tmux,
    submit(text) {
      run(["-S", socket, "load-buffer", "-b", "message", "-"], directory, text);
      tmux("paste-buffer", "-d", "-p", "-b", "message", ...pane, ";", "send-keys", ...pane, "Enter");
    },
    keys: (...keys) => void tmux("send-keys", ...pane, ...keys),
    title: () => show("#{pane_title}"),
    screen: () => tmux("capture-pane", "-p", "-S", "-", ...pane),
    hooks,
    transcript: () =>
      readFileSync(transcriptPath, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as TranscriptLine),
    waitForHook: (event, times = 1) =>
      eventually(
        `${event} hook ${times}`,
        () => hooks().filter((record) => record.event === event)[times - 1],
        () => opened.screen(),
      ),
    waitForExit: () =>
      eventually("exit status", () => {
        const status = show("#{pane_dead_status}");
        if (status !== "") return Number(status);
        // tmux 3.3a ignores SIGCHLD while it runs its utempter helper, and so may never have reaped the program.
        if (show("#{pane_dead}") === "1") process.kill(Number(show("#{pid}")), "SIGCHLD");
        return undefined;
      }),
    async close() {
      const server = Number(tmux("display-message", "-p", "#{pid}"));
      tmux("kill-server");
      await eventually("nothing is left", () => (isAlive(server) || isAlive(opened.pid) ? undefined : true));
      rmSync(directory, { recursive: true });
    },
  };
  return opened;
}

/** Looks until there is something to see; `aside` is added to the complaint when there never is. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined,
  aside: () => string = () => "",
): Promise<T> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    const seen = look();
    if (seen !== undefined) return seen;
    if (performance.now() > deadline) throw new Error(`never came: ${what}\n${aside()}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export function newDirectory(): string {
  return mkdtempSync(join(tmpdir(), "reeve-practice-"));
}

export function wholeFilesIn(spool: string): string[] {
  return readdirSync(spool)
    .filter((name) => !name.startsWith("."))
    .toSorted();
}

/** A zombie is as gone as can be: who reaps it is not the program's affair. */
function isAlive(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  try {
    process.kill(pid, 0);
    return !existsSync(stat) || !/^\d+ \(.*\) Z/s.test(readFileSync(stat, "utf8"));
  } catch {
    return false;
  }
}

function run(args: readonly string[], home: string, input = ""): string {
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color" };
  const { status, stdout, stderr, error } = spawnSync("tmux", args, {
    env,
    input,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`tmux ${args.join(" ").slice(0, 300)}: ${error?.message ?? stderr}`);
  return stdout;
}
