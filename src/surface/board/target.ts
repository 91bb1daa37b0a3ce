/**
 * Which sessions a key acts on: all that are picked, else the selected one. Pure.
 * What is answered or attached to is never several: each question is read by itself.
 */
import type { SessionView } from "../../client/operation-types.ts";
import { rowsOf, selectedSession } from "./model.ts";
import type { Board } from "./model.ts";

export function targetsOf(board: Board): readonly SessionView[] {
  const { picked, sessions } = board;
  if (picked.size > 0) return [...sessions.values()].filter(({ session_id: id }) => picked.has(id));
  const selected = selectedSession(board);
  return selected === null ? [] : [selected];
}

/** Sessions that are listed now; what Reeve did not start cannot be picked. */
function listedIds(board: Board): readonly string[] {
  return rowsOf(board).flatMap(({ id, need }) => (need === "foreign" ? [] : [id]));
}

/** Of these, how many a filter or a search hides: nobody sees what a key does to them. */
export function hiddenAmong(board: Board, ids: readonly string[]): number {
  const listed = new Set(listedIds(board));
  return ids.filter((id) => !listed.has(id)).length;
}

export function withToggled({ picked }: Board, id: string): ReadonlySet<string> {
  return picked.has(id) ? new Set([...picked].filter((one) => one !== id)) : new Set([...picked, id]);
}

/** Picks all that are listed; if they all are picked already, none of them. */
export function withAllToggled(board: Board): ReadonlySet<string> {
  const listed = listedIds(board);
  if (!listed.every((id) => board.picked.has(id))) return new Set([...board.picked, ...listed]);
  return new Set([...board.picked].filter((id) => !listed.includes(id)));
}

const PAUSE_KEY = ["pause", "resume", "restart"] as const;
export type PauseKey = (typeof PAUSE_KEY)[number];

/** What p does, and to which of them: those that are paused already stay so while others are not. */
export function pausing(targets: readonly SessionView[]): {
  readonly does: PauseKey;
  readonly sessions: readonly SessionView[];
} {
  const does = PAUSE_KEY.find((one) => targets.some((session) => pauseKey(session) === one)) ?? "pause";
  return { does, sessions: targets.filter((session) => pauseKey(session) === does) };
}

function pauseKey(session: SessionView): PauseKey {
  if (!hasProcess(session)) return "restart";
  return session.state === "paused" ? "resume" : "pause";
}

/** Also where nobody can look at the moment. */
export function hasProcess({ liveness }: SessionView): boolean {
  return liveness !== "exited" && liveness !== "absent";
}

export function hasTurn(session: SessionView): boolean {
  return session.turn_open && hasProcess(session);
}
