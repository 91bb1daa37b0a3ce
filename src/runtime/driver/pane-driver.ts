/**
 * What is done with panes over a control connection: typing, reading the
 * screen, listening, views and labels. It needs a directory that finds the
 * panes, and knows neither how their server is reached nor where it runs.
 */
import type { Clock } from "../../platform/clock.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { formatMark, parseMark, type Runtime, type Target } from "../contract.ts";
import { captureCommands, readScreen } from "./capture-screen.ts";
import { endOfSecond } from "../last-key.ts";
import type { ChangeHints } from "./change-hints.ts";
import { createFollowers } from "./followers.ts";
import type { OutputStreams } from "./output-streams.ts";
import type { PaneDirectory } from "./pane-directory.ts";
import { checkName, quote } from "./quote.ts";
import type { Reach } from "./reach.ts";
import { createTerminals } from "./terminals.ts";
import { checkSteps, type Typist, typeInto } from "./type-input.ts";
import { continuePane } from "./window-links.ts";

export interface PaneDriver extends Pick<
  Runtime,
  "send" | "capture" | "relabel" | "lastTypedAt" | "stream" | "follow" | "openTerminal"
> {
  /** What tmux tells a control client unasked. */
  readonly notified: (name: string, rest: string) => void;
  /** Output may be missing, of one pane or of all: those who look are shown the screen again. */
  readonly renew: (mark: string | null) => void;
  /** Hears of no more changes. */
  readonly close: () => void;
}

export interface PaneDriverParts extends Pick<Typist, "stagingDir" | "isLineMode"> {
  readonly instance: string;
  readonly directory: PaneDirectory;
  readonly streams: OutputStreams;
  readonly hints: ChangeHints;
  readonly reach: () => Promise<Reach>;
  /** It was paused on purpose, and whoever did that lets it go on. */
  readonly staysPaused?: (paneId: string) => boolean;
  readonly clock: Clock;
  readonly log: (message: string, fields?: object) => void;
}

export function createPaneDriver(parts: PaneDriverParts): PaneDriver {
  const { instance, directory, streams, hints, clock, log, stagingDir, isLineMode } = parts;
  const terminals = createTerminals({ instance, directory, streams, clock, log });
  const followers = createFollowers({ instance, directory, streams, clock, log });
  const close = hints.listen(terminals.notice);

  const renew = (mark: string | null): void => {
    terminals.renew(mark);
    followers.renew(mark);
  };

  const resume = (paneId: string): void => {
    if (!/^%\d+$/.test(paneId) || parts.staysPaused?.(paneId) === true) return;
    log("terminal output came faster than it was read; some of it was skipped", { pane: paneId });
    const goOn = async (): Promise<void> => {
      const reach = await parts.reach();
      if (reach.status !== "connected") return;
      await reach.connection.request([{ text: continuePane(paneId) }]);
      renew(streams.markOfPane(paneId) ?? null);
    };
    goOn().catch(() => {}); // a new connection is not paused
  };

  return {
    renew,
    close,
    notified(name, rest) {
      switch (name) {
        case "sessions-changed":
        case "window-close":
        case "unlinked-window-close":
          return hints.tell(null);
        case "window-renamed":
        case "unlinked-window-renamed": // by the hook in server-config.ts: its process ended
          return hints.tell(parseMark(instance, streams.markOfWindow(rest.split(" ", 1)[0] ?? "") ?? ""));
        case "layout-change":
          return followers.resized(rest);
        case "pause":
          return resume(rest);
      }
    },
    async send(target, steps) {
      checkSteps(steps);
      const { pane, presence, connected } = await directory.require(target);
      if (presence.status !== "running") throw notRunning(target);
      const { connection, server } = connected;
      await typeInto(pane, steps, { connection, version: server.version, stagingDir, isLineMode, clock });
    },
    async capture(target, { lines, style }) {
      const wanted = Math.max(0, Math.floor(lines));
      const { pane, connected } = await directory.require(target);
      const answer = await connected.connection.request(captureCommands(pane.id, wanted));
      if (answer.error === null) return readScreen(answer, wanted, style);
      throw new ReeveError({
        code: "capture-failed",
        kind: "unavailable",
        message: `tmux did not show the screen: ${answer.error}.`,
      });
    },
    async relabel(target, label) {
      const { pane, presence, connected } = await directory.require(target);
      // A dead pane's window is called "ended": the next start names it.
      if (presence.status !== "running") return;
      await connected.connection.request([{ text: `rename-window -t ${pane.windowId} ${checkName(label)}` }]);
    },
    async lastTypedAt(target) {
      const { pane, connected } = await directory.require(target);
      const format = quote("client #{client_control_mode} #{client_activity}");
      const answer = await connected.connection.request([
        { text: `list-clients -t ${quote(pane.sessionId)} -F ${format}` },
      ]);
      return latestKey(answer.replies[0]?.lines ?? []);
    },
    stream: (target, listener) => streams.add(formatMark(instance, target), listener),
    follow: followers.follow,
    openTerminal: terminals.open,
  };
}

/** Of people's terminals only; tmux gives whole seconds. */
function latestKey(lines: readonly string[]): number | null {
  const seconds = lines.flatMap((line) => {
    const match = /^client 0 (\d+)$/.exec(line);
    return match === null ? [] : [Number(match[1])];
  });
  return seconds.length === 0 ? null : endOfSecond(Math.max(...seconds));
}

export function notRunning({ sessionId }: Target): ReeveError {
  return new ReeveError({
    code: "not-running",
    kind: "conflict",
    message: `Session ${sessionId} is not running; restart it first.`,
  });
}
