/** What a key does to the board, and what it asks the world for. Pure. */
import type { SessionView } from "../../client/operation-types.ts";
import { NEEDS_SOMEBODY } from "../../session/need-order.ts";
import { edited, inputLine, textOf } from "./input-line.ts";
import type { Key } from "./key.ts";
import { FILTERS, rowsOf, selectedApproval, selectedForeign, selectedSession, settled } from "./model.ts";
import type { Board, Confirmed, Mode } from "./model.ts";
import { hasProcess, hasTurn, pausing, targetsOf, withAllToggled, withToggled } from "./target.ts";

/** What the shell is to do. */
export type Wish =
  | { readonly type: "quit" | "suspend" | "redraw" | "refresh" }
  | { readonly type: "attach"; readonly session: string }
  | SessionWish
  /** The same of several sessions at once. */
  | { readonly type: "each"; readonly of: readonly { readonly name: string; readonly wish: SessionWish }[] }
  | {
      readonly type: "answer";
      readonly session: string;
      readonly approval: string;
      readonly decision: "approved" | "denied";
    }
  | { readonly type: "start"; readonly agent: string; readonly prompt: string };

/** What can be asked of several sessions. */
export type SessionWish =
  | { readonly type: "pause" | "resume" | "restart" | "interrupt"; readonly session: string }
  | { readonly type: "end"; readonly session: string; readonly when: "now" | "after-turn" }
  | { readonly type: "reply"; readonly session: string; readonly text: string };

export interface Pressed {
  readonly board: Board;
  readonly wish: Wish | null;
}

type CommandMode = Extract<Mode, { readonly type: "list" | "help" | "confirm" }>;
type TypingMode = Exclude<Mode, CommandMode>;

/** A question that changed under the finger is not answered: nobody can have read it. */
const READING_MS = 400;
const PAGE = 10;

export function press(board: Board, key: Key, now: number): Pressed {
  if (key.type === "interrupt") return board.mode.type === "list" ? wish(board, { type: "quit" }) : back(board);
  if (key.type === "suspend") return wish(board, { type: "suspend" });
  if (key.type === "redraw") return wish(board, { type: "redraw" });
  const quiet = { ...board, notice: null, keyAt: now, isFirstKey: board.keyAt === -Infinity };
  const { board: next, wish: wanted } = inMode(quiet, key, now);
  return { board: settled(next, now), wish: wanted };
}

function inMode(board: Board, key: Key, now: number): Pressed {
  const { mode } = board;
  switch (mode.type) {
    case "search":
    case "new":
    case "reply":
      return typing(board, mode, key);
    default:
      return key.type === "text" && key.text.length > 1
        ? eachLetter(board, key.text, now)
        : inCommand(board, mode, key, now);
  }
}

function inCommand(board: Board, mode: CommandMode, key: Key, now: number): Pressed {
  if (mode.type === "help") return back(board);
  if (mode.type === "confirm") return confirmed(board, mode, key);
  return key.type === "text" ? byLetter(board, key.text, now) : inList(board, key, board.isFirstKey);
}

function confirmed(board: Board, { does, sessions }: Extract<Mode, { readonly type: "confirm" }>, key: Key): Pressed {
  const { board: closed } = back(board);
  const letter = key.type === "text" ? key.text.charAt(0) : "";
  const isNow = does === "end" && letter === "!";
  if (letter.toLowerCase() !== "y" && !isNow) return told(closed, "Nothing was done.");
  return wishOf(closed, sessions, (session) =>
    does === "end" ? { type: does, session, when: isNow ? "now" : "after-turn" } : { type: does, session },
  );
}

/** Those that have gone since the question was asked are left out. */
function wishOf(board: Board, ids: readonly string[], make: (session: string) => SessionWish): Pressed {
  const [first, ...others] = ids;
  if (first !== undefined && others.length === 0) return wish(board, make(first));
  const there = ids.flatMap((id) => board.sessions.get(id) ?? []);
  if (there.length === 0) return told(board, "None of these sessions is there any more.");
  return wish(board, { type: "each", of: there.map(({ session_id: id, name }) => ({ name, wish: make(id) })) });
}

/** Over a slow line several keys may come at once; those after one that asks for something are not for what was seen. */
function eachLetter(board: Board, text: string, now: number): Pressed {
  let pressed: Pressed = only(board);
  for (const letter of text) {
    if (pressed.wish !== null) return pressed;
    const next = inMode(pressed.board, { type: "text", text: letter }, now);
    pressed = { ...next, board: settled(next.board, now) };
  }
  return pressed;
}

function byLetter(board: Board, letter: string, now: number): Pressed {
  switch (letter) {
    case "j":
      return moved(board, 1);
    case "k":
      return moved(board, -1);
    case "g":
      return inList(board, { type: "home" });
    case "G":
      return inList(board, { type: "end" });
    case "a":
      return answered(board, "approved", now);
    case "d":
      return answered(board, "denied", now);
    case " ":
      return withSession(board, ({ session_id: id }) => only({ ...board, picked: withToggled(board, id) }));
    case "*":
      return only({ ...board, picked: withAllToggled(board) });
    case "r":
      return replying(board);
    case "n": {
      const again = board.refused?.type === "new" ? board.refused : null;
      return only({ ...board, mode: again ?? { type: "new", line: inputLine(lastAgent(board)) } });
    }
    case "p":
      return withTargets(board, (targets) => {
        const { does, sessions } = pausing(targets);
        if (board.picked.size > 0) return asked(board, does, sessions);
        return wishOf(board, idsOf(sessions), (session) => ({ type: does, session }));
      });
    case "i":
      return withTargets(board, (targets) => {
        const open = targets.filter(hasTurn);
        if (open.length > 0) return asked(board, "interrupt", open);
        const [{ name } = { name: "" }] = targets;
        if (board.picked.size === 0) return told(board, `${name} has no turn under way.`);
        return told(board, "None of the picked sessions has a turn under way.");
      });
    case "x":
      return withTargets(board, (targets) => asked(board, "end", targets));
    case "f":
      return only({ ...board, filter: FILTERS[(FILTERS.indexOf(board.filter) + 1) % FILTERS.length] ?? "all" });
    case "/":
      return only({ ...board, mode: { type: "search", line: inputLine(board.search) } });
    case "v":
      return only({ ...board, source: board.source === "screen" ? "transcript" : "screen", scroll: 0 });
    case "R":
      return wish(board, { type: "refresh" });
    case "?":
      return only({ ...board, mode: { type: "help" } });
    case "q":
      return wish(board, { type: "quit" });
    default:
      return told(board, "That key does nothing here; ? shows the keys.");
  }
}

function inList(board: Board, key: Key, isFirst = false): Pressed {
  const last = rowsOf(board).length - 1;
  switch (key.type) {
    case "up":
      return moved(board, -1);
    case "down":
      return moved(board, 1);
    case "home":
      return moved(board, -last);
    case "end":
      return moved(board, last);
    case "tab":
      return toNeedy(board, 1, isFirst);
    case "back-tab":
      return toNeedy(board, -1, isFirst);
    case "page-up":
      return only({ ...board, scroll: board.scroll + PAGE });
    case "page-down":
      return only({ ...board, scroll: Math.max(0, board.scroll - PAGE) });
    case "enter":
      return withSession(board, (session) =>
        hasProcess(session)
          ? wish(board, { type: "attach", session: session.session_id })
          : told(board, `${session.name} has no process to attach to; press p to start it again.`),
      );
    case "escape":
      if (board.search === "" && board.filter === "all") return only({ ...board, picked: new Set() });
      return only({ ...board, search: "", filter: "all" });
    case "end-of-input":
      return wish(board, { type: "quit" });
    default:
      return only(board);
  }
}

function typing(board: Board, mode: TypingMode, key: Key): Pressed {
  if (key.type === "escape") return back(mode.type === "search" ? { ...board, search: "" } : board);
  if (key.type === "enter") return entered(board, mode);
  const line = edited(mode.line, key);
  if (line === null) return only(board);
  const next = { ...board, mode: { ...mode, line } };
  return only(mode.type === "search" ? { ...next, search: textOf(line).trim() } : next);
}

function entered(board: Board, mode: TypingMode): Pressed {
  const text = textOf(mode.line).trim();
  const { board: closed } = back(board);
  if (mode.type === "search") return only(closed);
  if (text === "") return told(closed, "Nothing was typed, so nothing was sent.");
  if (mode.type === "reply") return wishOf(closed, mode.sessions, (session) => ({ type: "reply", session, text }));
  const [agent = "", ...words] = text.split(" ");
  const rest = words.join(" ").trim();
  // As it is written in a shell; the hint of an empty board shows it so.
  const prompt = agent === "command" ? rest.replace(/^--(?:\s+|$)/, "") : rest;
  return wish(closed, { type: "start", agent, prompt });
}

function moved(board: Board, by: number): Pressed {
  const rows = rowsOf(board);
  const at = Math.max(0, Math.min(rows.length - 1, board.selectedAt + by));
  return only({ ...board, selected: rows[at]?.id ?? null, selectedAt: at });
}

function toNeedy(board: Board, step: 1 | -1, isFirst: boolean): Pressed {
  const rows = rowsOf(board);
  // What is selected when the board opens was chosen by nobody: it is the first to go to.
  const from = isFirst ? 0 : 1;
  for (let away = from; away <= rows.length; away += 1) {
    const at = (board.selectedAt + step * away + rows.length * 2) % rows.length;
    const row = rows[at];
    if (row !== undefined && row.need !== "foreign" && NEEDS_SOMEBODY.has(row.need))
      return only({ ...board, selected: row.id, selectedAt: at });
  }
  return told(board, "Nobody needs you.");
}

function answered(board: Board, decision: "approved" | "denied", now: number): Pressed {
  const approval = selectedApproval(board);
  const session = selectedSession(board);
  if (session === null) return withSession(board, () => only(board));
  if (approval === null) return told(board, `${session.name} asks for no approval.`);
  if (!approval.answerable) return told(board, "It is answered in the session: press Enter to attach.");
  if (approval.answer !== null) return told(board, "Its answer is on the way.");
  if (board.question === null || now - board.question.shownAt < READING_MS)
    return told(board, "The question has just changed. Read it, then press the key again.");
  return wish(board, { type: "answer", session: session.session_id, approval: approval.approval_id, decision });
}

function asked(board: Board, does: Confirmed, sessions: readonly SessionView[]): Pressed {
  return only({ ...board, mode: { type: "confirm", does, sessions: idsOf(sessions) } });
}

function replying(board: Board): Pressed {
  return withTargets(board, (targets) => {
    const able = board.picked.size === 0 ? targets : targets.filter(hasProcess);
    if (able.length === 0) return told(board, "None of the picked sessions has a process to send it to.");
    const sessions = idsOf(able);
    const again = board.refused?.type === "reply" && isSame(board.refused.sessions, sessions) ? board.refused : null;
    return only({ ...board, mode: again ?? { type: "reply", sessions, line: inputLine() } });
  });
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((id) => others.includes(id));
}

function idsOf(sessions: readonly SessionView[]): readonly string[] {
  return sessions.map(({ session_id: id }) => id);
}

/** The one started last is the likeliest to be wanted again. */
function lastAgent({ sessions }: Board): string {
  const newest = [...sessions.values()].toSorted((one, other) => other.created_at.localeCompare(one.created_at));
  return newest[0] === undefined ? "" : `${newest[0].agent} `;
}

function withTargets(board: Board, act: (targets: readonly SessionView[]) => Pressed): Pressed {
  const targets = targetsOf(board);
  return targets.length > 0 ? act(targets) : withSession(board, () => only(board));
}

function withSession(board: Board, act: (session: SessionView) => Pressed): Pressed {
  const session = selectedSession(board);
  if (session !== null) return act(session);
  if (selectedForeign(board) !== null) return told(board, "Reeve did not start it, and only looks at it.");
  return told(board, "There is no session here; press n to start one.");
}

function only(board: Board): Pressed {
  return { board, wish: null };
}

function wish(board: Board, wanted: Wish): Pressed {
  return { board, wish: wanted };
}

function told(board: Board, text: string): Pressed {
  return only({ ...board, notice: { text, isBad: false } });
}

function back(board: Board): Pressed {
  return only({ ...board, mode: { type: "list" } });
}
