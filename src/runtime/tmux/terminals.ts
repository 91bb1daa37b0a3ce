/**
 * Views of panes. A snapshot is what tmux says is on the screen, colours
 * included; tmux sends output and answers to a control client in one order, so
 * output before that answer is in the snapshot and output after it is not. Keys
 * are sent as bytes (`send-keys -H`), which works in every mode that a person
 * may have left the pane in.
 */
import type { Clock } from "../../platform/clock.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { formatMark, type Target } from "../contract.ts";
import { MOST_PENDING_BYTES, type Terminal, type TerminalOutput, type TerminalSize } from "../terminal.ts";
import { createTerminalFeed, type TerminalFeed } from "../terminal-feed.ts";
import type { Answer, ControlCommand } from "./control-connection.ts";
import type { OutputStreams } from "./output-streams.ts";
import type { PaneDirectory } from "./pane-directory.ts";
import { quote } from "./quote.ts";

export interface Terminals {
  open(target: Target): Promise<Terminal>;
  /** Something may have happened to it, or to all of them: those whose process is gone end. */
  notice(target: Target | null): void;
  /** Output of this pane, or of all of them, may be missing: what is on the screen is shown again. */
  renew(mark: string | null): void;
}

export interface TerminalParts {
  readonly instance: string;
  readonly directory: PaneDirectory;
  readonly streams: OutputStreams;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
}

interface View {
  readonly target: Target;
  readonly mark: string;
  readonly feed: TerminalFeed;
  readonly close: () => void;
}

/** A command line that tmux parses quickly; more is sent in several. */
const KEYS_AT_ONCE = 1_000;
const LARGEST_SIDE = 1_000;
/** Output is linked within milliseconds. */
const LINK_LOOK_MS = 10;
const LINK_LOOKS = 200;

export function createTerminals({ instance, directory, streams, clock, log }: TerminalParts): Terminals {
  const views = new Set<View>();
  /** Marks whose size somebody who looks has set. */
  const resized = new Set<string>();
  const queue = createKeyedQueue();

  const running = async (target: Target) => {
    const found = await directory.require(target);
    if (found.presence.status === "running") return found;
    throw new ReeveError({
      code: "not-running",
      kind: "conflict",
      message: `Session ${target.sessionId} is not running; restart it first.`,
    });
  };

  const untilLinked = async (target: Target) => {
    for (let look = 1; ; look += 1) {
      const found = await running(target);
      if (found.pane.isLinked) return found;
      if (look === LINK_LOOKS) throw new Error("its output is not passed on");
      await clock.sleep(LINK_LOOK_MS);
    }
  };

  const show = async ({ target, feed }: View): Promise<void> => {
    const { pane, connected } = await untilLinked(target);
    const answer = await connected.connection.request(snapshotCommands(pane.id), (early) => {
      const snapshot = readSnapshot(early);
      if (snapshot !== null) feed.show(snapshot);
    });
    if (readSnapshot(answer) === null) throw new Error(answer.error ?? "tmux did not show the screen");
  };

  const end = (view: View, why: unknown): void => {
    if (views.has(view)) log("a view of a terminal ended", { ...view.target, why });
    view.close();
  };

  /** The size is left to whoever attaches when nobody who looks wants one any more. */
  const closed = (view: View): void => {
    if (!views.delete(view)) return;
    view.feed.end();
    if ([...views].some(({ mark }) => mark === view.mark) || !resized.delete(view.mark)) return;
    const release = async (): Promise<void> => {
      const { pane, connected } = await directory.require(view.target);
      await connected.connection.request([{ text: `set-option -w -u -t ${pane.id} window-size` }]);
    };
    release().catch(() => undefined); // gone with its pane
  };

  const write = async (target: Target, bytes: Buffer): Promise<void> => {
    const { pane, connected } = await running(target);
    for (let at = 0; at < bytes.length; at += KEYS_AT_ONCE) {
      const keys = bytes
        .subarray(at, at + KEYS_AT_ONCE)
        .toString("hex")
        .replaceAll(/../g, " $&");
      const commands = [{ text: `copy-mode -q -t ${pane.id}` }, { text: `send-keys -H -t ${pane.id}${keys}` }];
      requireDone(await connected.connection.request(commands));
    }
  };

  const resize = async (target: Target, mark: string, size: TerminalSize): Promise<void> => {
    const { pane, connected } = await running(target);
    const [columns, rows] = [sideOf(size.columns), sideOf(size.rows)];
    resized.add(mark);
    requireDone(await connected.connection.request([{ text: `resize-window -x ${columns} -y ${rows} -t ${pane.id}` }]));
    for (const view of views) if (view.mark === mark) view.feed.renew();
  };

  return {
    async open(target) {
      await running(target);
      const mark = formatMark(instance, target);
      const onOwed = (): void => void show(view).catch((error: unknown) => end(view, error));
      const feed = createTerminalFeed({ mostBytes: MOST_PENDING_BYTES, onOwed });
      const stopStream = streams.add(mark, feed.push);
      const close = (): void => {
        stopStream();
        closed(view);
      };
      const view: View = { target, mark, feed, close };
      views.add(view);
      return {
        output: feed.output,
        write: (bytes) => queue.run(mark, () => write(target, bytes)),
        resize: (size) => queue.run(mark, () => resize(target, mark, size)),
        close,
      };
    },
    notice(target) {
      for (const view of views) {
        if (target !== null && formatMark(instance, target) !== view.mark) continue;
        const look = async (): Promise<void> => {
          const { reach, sightings } = await directory.one(view.target);
          if (reach.status !== "unreachable" && sightings[0]?.presence.status !== "running") view.close();
        };
        look().catch(() => undefined); // what could not be asked is no end
      }
    },
    renew(mark) {
      for (const view of views) if (mark === null || view.mark === mark) view.feed.renew();
    },
  };
}

const FORMAT =
  "view #{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{cursor_flag} #{alternate_on} #{keypad_cursor_flag}";
const PATTERN = /^view (\d+) (\d+) (\d+) (\d+) ([01]) ([01]) ([01])$/;

/** In one line, so that nothing can be printed in between. */
function snapshotCommands(paneId: string): readonly ControlCommand[] {
  const bodyLines = (earlier: Answer["replies"]): number => Number(PATTERN.exec(earlier[0]?.lines[0] ?? "")?.[2] ?? 0);
  return [
    { text: `display-message -p -t ${paneId} ${quote(FORMAT)}` },
    { text: `capture-pane -p -e -S 0 -t ${paneId}`, bodyLines },
  ];
}

/** Cleared, drawn line by line, and the cursor put where it is. */
function readSnapshot({ replies, error }: Answer): Extract<TerminalOutput, { type: "snapshot" }> | null {
  const match = PATTERN.exec(replies[0]?.lines[0] ?? "");
  if (match === null || error !== null) return null;
  const [, width, height, column, row, cursor, alternate, keypad] = match;
  const drawn = [
    alternate === "1" ? "\u001b[?1049h" : "\u001b[?1049l",
    keypad === "1" ? "\u001b[?1h" : "\u001b[?1l",
    "\u001b[0m\u001b[2J\u001b[H",
    (replies[1]?.lines ?? []).join("\r\n"),
    `\u001b[0m\u001b[${Number(row) + 1};${Number(column) + 1}H`,
    cursor === "1" ? "\u001b[?25h" : "\u001b[?25l",
  ];
  const size = { columns: Number(width), rows: Number(height) };
  return { type: "snapshot", bytes: Buffer.from(drawn.join("")), size };
}

function requireDone({ error }: Answer): void {
  if (error === null) return;
  throw new ReeveError({ code: "terminal-failed", kind: "unavailable", message: `tmux did not do it: ${error}.` });
}

function sideOf(cells: number): number {
  return Math.max(1, Math.min(LARGEST_SIDE, Math.floor(cells) || 1));
}
