/**
 * Whether the person at the board has seen how the selected session's turn or
 * process ended. Pure; board.ts tells the daemon.
 *
 * It counts as seen when its row has been selected and its preview shown for
 * SEEN_MS, and a key was pressed since it was both selected and over: the key
 * that moved there, or any later one. Without a key nobody may be there: a
 * board that is left open overnight has seen nothing.
 */
import type { Board } from "./model.ts";

/** What is to be seen, and since when it can be. */
export interface Glance {
  readonly session: string;
  /** When the turn or the process ended: another end is other news. */
  readonly news: string;
  /** When it was selected, or ended while it was. */
  readonly cameAt: number;
  /** When its preview was shown; null until then. */
  readonly shownAt: number | null;
}

/** The revision of a session that was looked at. */
export interface Seen {
  readonly session: string;
  readonly revision: number;
}

/** Long enough to read its last lines; who only passes by with j is gone by then. */
const SEEN_MS = 1_500;

export function glanceAt(board: Board, now: number): Glance | null {
  const session = board.selected === null ? undefined : board.sessions.get(board.selected);
  if (session === undefined || !session.unseen) return null;
  if (session.need !== "finished" && session.need !== "failed") return null;
  const { session_id: id, need_since: news } = session;
  const before = board.glance?.session === id && board.glance.news === news ? board.glance : null;
  // Help hides the preview, and without the daemon it may be old.
  const isShown = board.preview?.session === id && board.mode.type !== "help" && board.link === "live";
  const shownAt = isShown ? (before?.shownAt ?? now) : null;
  return { session: id, news, cameAt: before?.cameAt ?? now, shownAt };
}

/** What has been seen by now. */
export function seenBy({ glance, sessions, keyAt }: Board, now: number): Seen | null {
  if (glance === null || glance.shownAt === null) return null;
  if (keyAt < glance.cameAt || now - glance.shownAt < SEEN_MS) return null;
  const revision = sessions.get(glance.session)?.revision;
  return revision === undefined ? null : { session: glance.session, revision };
}

/** Until something will have been seen, if nothing happens meanwhile. */
export function untilSeen({ glance, keyAt }: Board, now: number): number {
  if (glance === null || glance.shownAt === null || keyAt < glance.cameAt) return Infinity;
  const ms = glance.shownAt + SEEN_MS - now;
  return ms > 0 ? ms : Infinity;
}
