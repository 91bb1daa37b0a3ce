/**
 * Follows panes for recordings: their output, their size, and a snapshot where
 * one is asked for or output may be missing. tmux tells a control client of a
 * new layout among the output, so a size is told where it changed.
 */
import type { Clock } from "../../platform/clock.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { formatMark, type Target } from "../contract.ts";
import type { TerminalEvent, TerminalFollowing, TerminalSize } from "../terminal.ts";
import type { OutputStreams } from "./output-streams.ts";
import type { PaneDirectory } from "./pane-directory.ts";
import { createSnapshots, readSize, sizeCommand } from "./snapshot.ts";

/** A pane whose output arrives is known within milliseconds, on a busy machine within a second. */
const ASK_AGAIN_MS = 200;

export interface Followers {
  follow(target: Target, listener: (event: TerminalEvent) => void): TerminalFollowing;
  /** Output of this pane, or of all of them, may be missing. */
  renew(mark: string | null): void;
  /** What tmux says of a window's new layout. */
  resized(notice: string): void;
}

interface Follower {
  readonly mark: string;
  readonly tell: (event: TerminalEvent) => void;
  readonly repaint: () => void;
  size: TerminalSize | null;
}

export function createFollowers(parts: {
  readonly instance: string;
  readonly directory: PaneDirectory;
  readonly streams: OutputStreams;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
}): Followers {
  const { streams, directory, clock, log } = parts;
  const followers = new Set<Follower>();
  const snapshots = createSnapshots(parts);

  function isSame(size: TerminalSize, other: TerminalSize | null): boolean {
    return size.columns === other?.columns && size.rows === other.rows;
  }

  function learnSize(follower: Follower, size: TerminalSize): void {
    if (!followers.has(follower) || isSame(size, follower.size)) return;
    follower.size = size;
    follower.tell({ type: "resized", size });
  }

  return {
    follow(target, listener) {
      const mark = formatMark(parts.instance, target);
      let isPaintAsked = false;
      let isSizeAsked = false;

      const repaint = (): void => {
        if (isPaintAsked) return;
        isPaintAsked = true;
        snapshots
          .take(target, (snapshot) => {
            if (!followers.has(follower)) return;
            follower.size = snapshot.size;
            listener(snapshot);
          })
          .catch((error: unknown) => log("a terminal could not be shown again", { ...target, why: messageOf(error) }))
          .finally(() => (isPaintAsked = false));
      };

      const askSize = async (): Promise<void> => {
        const { pane, connected } = await directory.require(target);
        await connected.connection.request([sizeCommand(pane.id)], (answer) => {
          const size = readSize(answer);
          if (size !== null) learnSize(follower, size);
        });
      };

      const learnFirstSize = (): void => {
        if (isSizeAsked || follower.size !== null || !followers.has(follower)) return;
        isSizeAsked = true;
        // Its pane may not be known yet, and perhaps nothing more is printed.
        askSize().catch(() => {
          isSizeAsked = false;
          clock.after(ASK_AGAIN_MS, learnFirstSize);
        });
      };

      const hear = (bytes: Buffer): void => {
        listener({ type: "bytes", bytes });
        learnFirstSize();
      };

      const follower: Follower = { mark, tell: listener, repaint, size: null };
      followers.add(follower);
      const stopStream = streams.add(mark, hear);
      return {
        repaint,
        stop() {
          followers.delete(follower);
          stopStream();
        },
      };
    },
    renew(mark) {
      for (const follower of followers)
        if (streams.paneOf(follower.mark) !== undefined && (mark === null || follower.mark === mark))
          follower.repaint();
    },
    resized(notice) {
      const [windowId = "", layout = ""] = notice.split(" ");
      const mark = streams.markOfWindow(windowId);
      const size = mark === undefined ? null : sizeInLayout(layout, streams.paneOf(mark) ?? "");
      if (size === null) return;
      for (const follower of followers) if (follower.mark === mark) learnSize(follower, size);
    },
  };
}

/** `<checksum>,<columns>x<rows>,<x>,<y>,<number of the pane>`, nested in braces where a person has split the window. */
export function sizeInLayout(layout: string, paneId: string): TerminalSize | null {
  for (const [, columns, rows, pane] of layout.matchAll(/(\d+)x(\d+),\d+,\d+,(\d+)(?=[,\]}]|$)/g))
    if (`%${pane}` === paneId) return { columns: Number(columns), rows: Number(rows) };
  return null;
}
