/**
 * The whole board as lines for a terminal of a given size. Pure: the same
 * board, size and time always give the same frame.
 */
import { oneLine } from "../cli/session-text.ts";
import { BETWEEN_PARTS, summaryParts } from "../../session/need-order.ts";
import { nextAge } from "./age.ts";
import { drawList, shownIn, withHeading } from "./draw-list.ts";
import { drawForeign, drawPreview } from "./draw-preview.ts";
import { KEYS } from "./keys-help.ts";
import { cutLine, fillLine, span, widthOf, wrapLine } from "./line.ts";
import type { Line, Span } from "./line.ts";
import { NEED_TONES, styleOf } from "./look.ts";
import type { Look } from "./look.ts";
import { rowsOf, selectedApproval, selectedForeign, selectedSession } from "./model.ts";
import type { Board } from "./model.ts";
import { hasProcess, hasTurn, hiddenAmong, pausing, targetsOf } from "./target.ts";
import type { InputLine } from "./input-line.ts";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface Frame {
  /** One for each row of the terminal, none wider than it. */
  readonly lines: readonly Line[];
  /** Where to show the cursor, from 0; null hides it. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
}

/** From here on the preview has its place beside the list. */
const WIDE = 120;
const MOST_LIST_COLUMNS = 110;
const LEAST_PREVIEW = 5;

export function render(board: Board, size: Size, look: Look, now: number): Frame {
  const { columns, rows } = size;
  const height = Math.max(0, rows - 3);
  const body = bodyOf(board, { columns, height }, look, now);
  const prompt = promptOf(board, { columns, height }, look);
  const lines = [
    headerOf(board, columns, look),
    // What takes more than its own line covers the end of the preview.
    ...Array.from({ length: height + 1 - prompt.lines.length }, (_, index) => body[index] ?? []),
    ...prompt.lines,
    hintsOf(board, columns, look),
  ].map((line) => cutLine(line, columns, look.ruler));
  const cursor = prompt.column === null ? null : { row: rows - 2, column: Math.min(columns - 1, prompt.column) };
  return { lines: lines.slice(0, rows), cursor };
}

/** When the frame will look different without anything having happened. */
export function nextChange(board: Board, { columns, rows }: Size, now: number): number {
  const height = listHeight(board, { columns, height: Math.max(0, rows - 3) });
  const shown = shownIn(rowsOf(board), board.selectedAt, height);
  return Math.min(Infinity, ...shown.map((row) => (row === null ? Infinity : nextAge(row.since, now))));
}

/** Whether there is room for some of the preview: a line about the session, a title and a few lines of its screen. */
export function hasPreviewRoom(board: Board, { columns, rows }: Size): boolean {
  const room = { columns, height: Math.max(0, rows - 3) };
  return room.height - (isWide(room) ? 0 : listHeight(board, room) + 1) >= LEAST_PREVIEW;
}

/** How wide the preview is. */
export function previewColumns({ columns }: Size): number {
  return isWide({ columns }) ? columns - listColumnsOf(columns) - 3 : columns;
}

function listColumnsOf(columns: number): number {
  return isWide({ columns }) ? Math.min(MOST_LIST_COLUMNS, Math.floor(columns / 2)) : columns;
}

interface Room {
  readonly columns: number;
  readonly height: number;
}

function headerOf(board: Board, columns: number, look: Look): Line {
  const parts: Span[] = [span("Reeve", styleOf("strong", look)), span("  ")];
  if (board.link === "lost") parts.push(span("reconnecting…", styleOf("notice", look)), span("  "));
  if (board.link === "connecting") parts.push(span("connecting…", styleOf("quiet", look)));
  summaryParts([...board.sessions.values()]).forEach(({ need, text }, index) => {
    if (index > 0) parts.push(span(BETWEEN_PARTS, styleOf("quiet", look)));
    parts.push(span(text, styleOf(NEED_TONES[need], look)));
  });
  const right = [
    ...(board.filter === "all" ? [] : [`only ${board.filter}`]),
    ...(board.search === "" ? [] : [`/${board.search}`]),
    ...(rowsOf(board).length === 0 ? [] : [`${board.selectedAt + 1} of ${rowsOf(board).length}`]),
  ].join("  ");
  const room = columns - look.ruler.width(right);
  const isNarrowed = board.filter !== "all" || board.search !== "";
  // That not everything is listed matters more than the counts.
  if (widthOf(parts, look.ruler) + 2 > room && !isNarrowed) return parts;
  return [...fillLine(parts, Math.max(0, room - 1), look.ruler), span(` ${right}`, styleOf("quiet", look))];
}

function bodyOf(board: Board, room: Room, look: Look, now: number): readonly Line[] {
  if (board.mode.type === "help") return helpLines(board, look);
  const rows = rowsOf(board);
  const session = selectedSession(board);
  const foreign = selectedForeign(board);
  if (session === null && foreign === null) return emptyLines(board, look);
  const previewIn = (beside: Room): readonly Line[] => {
    if (session !== null) return drawPreview(board, session, beside, look);
    const about = foreign === null ? [] : drawForeign(foreign, beside, look);
    return board.sessions.size === 0 ? [...about, ...emptyLines(board, look)] : about;
  };
  const listColumns = listColumnsOf(room.columns);
  const height = listHeight(board, room);
  const list = drawList(rows, board, { columns: listColumns, height }, look, now);
  const quiet = styleOf("quiet", look);
  if (!isWide(room)) {
    const ruled: Line = [span("─".repeat(room.columns), quiet)];
    const left = { columns: room.columns, height: room.height - list.length - 1 };
    return [...list, ruled, ...previewIn(left)];
  }
  const beside = { columns: room.columns - listColumns - 3, height: room.height };
  const preview = previewIn(beside);
  return Array.from({ length: room.height }, (_, index) => [
    ...fillLine(list[index] ?? [], listColumns, look.ruler),
    span(" │ ", quiet),
    ...cutLine(preview[index] ?? [], beside.columns, look.ruler),
  ]);
}

function isWide({ columns }: Pick<Room, "columns">): boolean {
  return columns >= WIDE;
}

/** Under the list the preview keeps at least half of the room. */
function listHeight(board: Board, room: Room): number {
  const count = withHeading(rowsOf(board)).length;
  return Math.min(count, isWide(room) ? room.height : Math.max(3, Math.floor(room.height / 2) - 1));
}

function helpLines(board: Board, look: Look): readonly Line[] {
  const width = Math.max(...KEYS.map(({ keys }) => keys.length));
  const hidden = hiddenKeys(board);
  return KEYS.flatMap(({ keys, does, isRare }): readonly Line[] => {
    if (does === undefined || (isRare === true && hidden.has(keys))) return [];
    return [[span(`  ${keys.padEnd(width)}  `, styleOf("strong", look)), span(does)]];
  });
}

/** What a person without a session needs is a line to start one with. */
const STARTS = [
  'reeve start claude "fix the failing test"',
  'reeve start practice "say hello"',
  "reeve start command -- npm test",
] as const;

function emptyLines(board: Board, look: Look): readonly Line[] {
  if (board.link === "connecting") return [];
  if (board.sessions.size > 0) return [[], [span("  No session matches. Esc shows all of them.")]];
  return [
    [],
    [span("  No sessions. Press n to start one here, or type one of these in a shell:")],
    [],
    ...STARTS.map((line): Line => [span(`    ${line}`, styleOf("strong", look))]),
  ];
}

interface Prompt {
  readonly lines: readonly Line[];
  /** Of the cursor, in the last line. */
  readonly column: number | null;
}

function promptOf(board: Board, { columns, height }: Room, look: Look): Prompt {
  const { mode, notice } = board;
  if (mode.type === "reply") return typed(`Reply to ${whom(board, mode.sessions)}: `, mode.line, columns, look);
  if (mode.type === "new") return typed("New session, agent and prompt: ", mode.line, columns, look);
  if (mode.type === "search") return typed("Search: ", mode.line, columns, look);
  const read = (text: string, style: string): Prompt => {
    const lines = wrapLine([span(text, style)], columns, look.ruler);
    return { lines: lines.slice(0, Math.max(1, Math.floor(height / 2))), column: null };
  };
  if (mode.type === "confirm") return read(questionOf(board, mode), styleOf("notice", look));
  if (notice === null) return { lines: [[]], column: null };
  return read(notice.text, styleOf(notice.isBad ? "bad" : "good", look));
}

const QUESTIONS = {
  pause: "Pause",
  resume: "Resume",
  restart: "Start again",
  interrupt: "Interrupt the turn under way in",
  end: "End",
} as const;

function questionOf(board: Board, { does, sessions }: Extract<Board["mode"], { readonly type: "confirm" }>): string {
  const turn = sessions.length === 1 ? "its turn" : "their turns";
  const answers = does === "end" ? `y: after ${turn}, !: now` : "y: yes";
  return `${QUESTIONS[does]} ${whom(board, sessions)}? ${answers}, any other key: no.`;
}

/** One by its name; of several how many, and that some of them cannot be seen. */
function whom(board: Board, sessions: readonly string[]): string {
  const [first = ""] = sessions;
  if (sessions.length === 1) return oneLine(board.sessions.get(first)?.name ?? first);
  const hidden = hiddenAmong(board, sessions);
  const count = `${sessions.length} ${sessions.length < board.picked.size ? `of ${board.picked.size} ` : ""}picked sessions`;
  return hidden === 0 ? count : `${count} (${hidden} not listed now)`;
}

/** The end of what stands before the cursor is always to be seen. */
function typed(label: string, { before, after }: InputLine, columns: number, { ruler }: Look): Prompt {
  const room = Math.max(1, columns - ruler.width(label) - 1);
  let start = before;
  while (ruler.width(start) > room) start = start.slice(1);
  return { lines: [[span(label), span(start + after)]], column: ruler.width(label) + ruler.width(start) };
}

function hintsOf(board: Board, columns: number, look: Look): Line {
  const quiet = styleOf("quiet", look);
  if (board.mode.type === "help") return [span("Any key goes back.", quiet)];
  if (board.mode.type !== "list" && board.mode.type !== "confirm")
    return [
      span("Enter ", ""),
      span(board.mode.type === "search" ? "keep  " : "send  ", quiet),
      span("Esc "),
      span("cancel", quiet),
    ];
  const hidden = hiddenKeys(board);
  const isPicked = board.picked.size > 0;
  const shown = KEYS.filter(
    ({ keys, short, group }) => short !== undefined && !hidden.has(keys) && (!isPicked || group !== undefined),
  );
  // The last two, help and quit, are never the ones that do not fit.
  const fixed = shown.slice(-2);
  const head: Line = isPicked ? [span(`${board.picked.size} picked:  `, styleOf("notice", look))] : [];
  const line = (keys: typeof shown): Line => [
    ...head,
    ...keys.flatMap(({ keys: key, short = "" }, index) => [
      span(`${index === 0 ? "" : "  "}${key} `),
      span(key === "p" ? PAUSE_WORDS[pausing(targetsOf(board)).does] : short, quiet),
    ]),
  ];
  for (let count = shown.length - 2; count > 0; count -= 1) {
    const candidate = line([...shown.slice(0, count), ...fixed]);
    if (widthOf(candidate, look.ruler) <= columns) return candidate;
  }
  return line(fixed);
}

const PAUSE_WORDS = { pause: "pause", resume: "resume", restart: "start again" } as const;

/** Those that could do nothing for what is selected or picked. */
function hiddenKeys(board: Board): ReadonlySet<string> {
  const session = selectedSession(board);
  const targets = targetsOf(board);
  return new Set([
    ...(selectedApproval(board)?.answerable === true ? [] : ["a", "d"]),
    ...(session !== null && hasProcess(session) ? [] : ["Enter"]),
    ...(targets.some(hasProcess) ? [] : ["r"]),
    ...(targets.some(hasTurn) ? [] : ["i"]),
    ...(targets.length === 0 ? ["p", "x"] : []),
    ...(session === null ? ["Space"] : []),
    ...(board.picked.size === 0 ? ["Esc"] : []),
  ]);
}
