/**
 * Views of panes. Keys are sent as bytes (`send-keys -H`), which works in every
 * mode that a person may have left the pane in.
 */
import type { Clock } from "../../platform/clock.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { formatMark, type Target } from "../contract.ts";
import { MOST_PENDING_BYTES, type Terminal, type TerminalSize } from "../terminal.ts";
import { createTerminalFeed, type TerminalFeed } from "../terminal-feed.ts";
import type { Answer } from "./control-connection.ts";
import type { OutputStreams } from "./output-streams.ts";
import type { PaneDirectory } from "./pane-directory.ts";
import { createSnapshots } from "./snapshot.ts";

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

export function createTerminals({ instance, directory, streams, clock, log }: TerminalParts): Terminals {
  const views = new Set<View>();
  /** Marks whose size somebody who looks has set. */
  const resized = new Set<string>();
  const queue = createKeyedQueue();

  const { running, take } = createSnapshots({ directory, clock });

  const show = ({ target, feed }: View): Promise<void> => take(target, feed.show);

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

function requireDone({ error }: Answer): void {
  if (error === null) return;
  throw new ReeveError({ code: "terminal-failed", kind: "unavailable", message: `tmux did not do it: ${error}.` });
}

function sideOf(cells: number): number {
  return Math.max(1, Math.min(LARGEST_SIDE, Math.floor(cells) || 1));
}
