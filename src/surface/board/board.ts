/**
 * The board: puts terminal, feed, preview and keys together around the pure
 * model, and draws when something changed. Loaded only for the board.
 */
import type { Client } from "../../client/create-client.ts";
import type { InputOf } from "../../client/operation-types.ts";
import { systemClock } from "../../platform/clock.ts";
import { asciiRuler, isNarrow } from "../cli/text-ruler.ts";
import { act, underWay } from "./act.ts";
import { startFeed } from "./feed.ts";
import { watchForeign } from "./foreign-feed.ts";
import type { Key } from "./key.ts";
import type { Look } from "./look.ts";
import { EMPTY_BOARD, settled } from "./model.ts";
import type { Board } from "./model.ts";
import { press } from "./press.ts";
import type { Wish } from "./press.ts";
import { createPreviewFeed } from "./preview.ts";
import { hasPreviewRoom, nextChange, previewColumns, render } from "./render.ts";
import { createScreenWriter } from "./screen-writer.ts";
import { seenBy, untilSeen } from "./seen.ts";
import type { Seen } from "./seen.ts";
import { openTerminal } from "./terminal.ts";

export interface BoardParts {
  /** For what its user asks for. */
  readonly client: Client;
  /** For what is asked by itself: it does not start a daemon that was stopped on purpose. */
  readonly watcher: Client;
  readonly hasColour: boolean;
  /** Whether the terminal shows more than ASCII. */
  readonly isUnicode: boolean;
  /** Where and with what a new session is started. */
  here(): Pick<InputOf<"startSession">, "cwd" | "environment">;
  /** Be in that session's terminal; this one is free meanwhile. Rejects where that cannot be. */
  attach(session: string): Promise<unknown>;
}

/** Times are drawn at most this often. */
const TICK_MS = 1_000;
/** Whoever leaves the board does not wait longer for a daemon that hangs. */
const TELL_MS = 2_000;

/** Resolves when its user leaves it. */
export function runBoard({ client, watcher, hasColour, isUnicode, here, attach }: BoardParts): Promise<void> {
  return new Promise((resolve) => {
    let board = EMPTY_BOARD;
    let look: Look = { hasColour, ruler: asciiRuler };
    let isAway = false;
    let isDrawing = false;
    let timer: NodeJS.Timeout | undefined;
    const over = new AbortController();
    /** By session and revision. */
    const toldSeen = new Map<string, Promise<unknown>>();
    const writer = createScreenWriter({ isUnicode });
    const terminal = openTerminal({ onKey, onResize: redraw, onClose: quit });
    const previews = createPreviewFeed(watcher, hasColour, (preview) => change({ preview }));
    const feed = startFeed(
      { client, watcher },
      {
        onSessions: (sessions, approvals) => change({ sessions, approvals }),
        onTouched: (sessions) => previews.touch(sessions),
        onLink: (link, why) => change({ link, ...(why === null ? {} : { notice: { text: why, isBad: true } }) }),
      },
      over.signal,
    );

    void watchForeign(
      watcher,
      (foreign) => change({ foreign }),
      () => board.link === "live",
      over.signal,
    );

    terminal.enter();
    draw();
    function change(fields: Partial<Board>): void {
      board = settled({ ...board, ...fields }, systemClock.now());
      requestDraw();
    }

    /** Whatever happens in one go is drawn once. */
    function requestDraw(): void {
      if (isDrawing || isAway) return;
      isDrawing = true;
      setImmediate(() => {
        isDrawing = false;
        draw();
      });
    }

    function draw(): void {
      clearTimeout(timer);
      if (isAway || over.signal.aborted) return;
      const now = systemClock.now();
      const size = terminal.size();
      previews.show(
        board.selected === null || !board.sessions.has(board.selected) || board.link !== "live"
          ? null
          : { session: board.selected, source: board.source, columns: previewColumns(size) },
      );
      const frame = render(board, size, look, now);
      terminal.write(writer.update(frame));
      if (look.ruler === asciiRuler && !frame.lines.flat().every(({ text }) => isNarrow(text))) void loadRuler();
      noteSeen(board, now);
      const next = Math.min(nextChange(board, size, now), untilSeen(board, now));
      if (Number.isFinite(next)) timer = setTimeout(draw, Math.max(TICK_MS, next));
    }

    /** It takes 15 ms, so the first frame does not wait for it: until it is there, wide letters are measured wrongly. */
    async function loadRuler(): Promise<void> {
      const { unicodeRuler } = await import("../cli/unicode-ruler.ts");
      if (look.ruler === unicodeRuler) return;
      look = { ...look, ruler: unicodeRuler };
      requestDraw();
    }

    function noteSeen(shown: Board, now: number): void {
      const seen = hasPreviewRoom(shown, terminal.size()) ? seenBy(shown, now) : null;
      if (seen !== null) tellSeen(seen);
    }

    /** So that every surface stops pointing at it. If the daemon cannot be told, it stays unseen. */
    function tellSeen({ session, revision }: Seen): void {
      const key = `${session} ${revision}`;
      if (toldSeen.has(key)) return;
      const signal = AbortSignal.timeout(TELL_MS);
      toldSeen.set(
        key,
        watcher.acknowledgeSession({ session, revision }, { signal }).catch(() => undefined),
      );
    }

    function redraw(): void {
      writer.forget();
      terminal.write("\u001B[2J");
      draw();
    }

    function onKey(key: Key): void {
      const now = systemClock.now();
      // Before it is done: the key may leave what was read.
      noteSeen({ ...board, keyAt: now }, now);
      const pressed = press(board, key, now);
      board = pressed.board;
      requestDraw();
      if (pressed.wish !== null) void grant(pressed.wish);
    }

    async function grant(wish: Wish): Promise<void> {
      switch (wish.type) {
        case "quit":
          return quit();
        case "redraw":
          return redraw();
        case "refresh":
          return feed.refresh();
        case "suspend":
          return await away(() => terminal.suspend());
        case "attach": {
          const { unseen, revision } = board.sessions.get(wish.session) ?? { unseen: false, revision: 0 };
          if (unseen) tellSeen({ session: wish.session, revision });
          return await away(async () => {
            terminal.leave();
            await attach(wish.session).finally(() => terminal.enter());
          });
        }
        default: {
          const text = underWay(wish);
          if (text !== null) change({ notice: { text, isBad: false } });
          const { notice, select, typed } = await act(client, wish, here);
          change({ notice, refused: typed ?? null, ...(select === undefined ? {} : { selected: select }) });
        }
      }
    }

    /** The terminal is somebody else's meanwhile. */
    async function away(use: () => Promise<void>): Promise<void> {
      isAway = true;
      previews.show(null);
      let notice: Board["notice"] = null;
      try {
        await use();
      } catch (error) {
        notice = { text: error instanceof Error ? error.message : String(error), isBad: true };
      }
      isAway = false;
      isDrawing = false;
      // Nobody read the question or the news here while it was away.
      board = settled({ ...board, notice, question: null, glance: null }, systemClock.now());
      redraw();
    }

    function quit(): void {
      if (over.signal.aborted) return;
      over.abort();
      clearTimeout(timer);
      previews.close();
      terminal.leave();
      void Promise.all(toldSeen.values()).then(() => resolve());
    }
  });
}
