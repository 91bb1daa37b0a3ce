/**
 * What the board knows and where its user is: sessions, selection, filter, what
 * is being typed. Pure; what comes from the daemon and from keys makes the next
 * one of these, and render.ts draws it.
 */
import type { OutputOf, SessionView } from "../../client/operation-types.ts";
import { byNeed, NEEDS, NEEDS_SOMEBODY } from "../../session/need-order.ts";
import type { ForeignView } from "../cli/foreign-text.ts";
import type { InputLine } from "./input-line.ts";
import { foreignRow, rowOf } from "./row.ts";
import type { Row } from "./row.ts";
import { glanceAt } from "./seen.ts";
import type { Glance } from "./seen.ts";

export type ApprovalView = OutputOf<"listApprovals">["approvals"][number];

export interface Board {
  /** `connecting` until the first list is there. */
  readonly link: "connecting" | "live" | "lost";
  readonly sessions: ReadonlyMap<string, SessionView>;
  /** Oldest first. */
  readonly approvals: readonly ApprovalView[];
  /** Agents that Reeve did not start. */
  readonly foreign: readonly ForeignView[];
  /** By id, so that it stays on the same session when the order changes. */
  readonly selected: string | null;
  /** Where the selection is in the list, for when its session goes. */
  readonly selectedAt: number;
  /** Sessions that the next key acts on together, by id, listed or not. */
  readonly picked: ReadonlySet<string>;
  readonly filter: Filter;
  readonly search: string;
  readonly mode: Mode;
  readonly notice: Notice | null;
  readonly source: "screen" | "transcript";
  readonly preview: Preview | null;
  /** Lines that the preview is scrolled back. */
  readonly scroll: number;
  /** What the selected session asks, and since when that can be read here. */
  readonly question: { readonly id: string; readonly shownAt: number } | null;
  /** The news of the selected session, and since when it can be seen here. */
  readonly glance: Glance | null;
  /** When the last key was pressed: somebody was here. */
  readonly keyAt: number;
  /** What was typed last, if it was not taken: it stands there again when the same is asked for. */
  readonly refused: TypedMode | null;
  /** The key that is pressed now is the first: what is selected was chosen by nobody. */
  readonly isFirstKey: boolean;
}

export const FILTERS = ["all", "needs me", "working", "idle"] as const;
export type Filter = (typeof FILTERS)[number];

export type Mode =
  | { readonly type: "list" }
  | { readonly type: "help" }
  | { readonly type: "search"; readonly line: InputLine }
  | { readonly type: "new"; readonly line: InputLine }
  | { readonly type: "reply"; readonly sessions: readonly string[]; readonly line: InputLine }
  | { readonly type: "confirm"; readonly does: Confirmed; readonly sessions: readonly string[] };

/** What is asked about before it is done: all of it for several sessions, the last two also for one. */
export type Confirmed = "pause" | "resume" | "restart" | "interrupt" | "end";

export type TypedMode = Extract<Mode, { readonly type: "new" | "reply" }>;

export interface Notice {
  readonly text: string;
  readonly isBad: boolean;
}

export interface Preview {
  readonly session: string;
  readonly source: "screen" | "transcript";
  /** Plain text with SGR sequences at most. */
  readonly text: string;
  readonly note: string;
}

export const EMPTY_BOARD: Board = {
  link: "connecting",
  sessions: new Map(),
  approvals: [],
  foreign: [],
  selected: null,
  selectedAt: 0,
  picked: new Set(),
  filter: "all",
  search: "",
  mode: { type: "list" },
  notice: null,
  source: "screen",
  preview: null,
  scroll: 0,
  question: null,
  glance: null,
  keyAt: -Infinity,
  refused: null,
  isFirstKey: false,
};

const SHOWN: Readonly<Record<Filter, ReadonlySet<Row["need"]>>> = {
  all: new Set([...NEEDS, "foreign"]),
  "needs me": NEEDS_SOMEBODY,
  working: new Set(["working"]),
  idle: new Set(["idle", "paused", "stopped"]),
};

/** Every session in the order of `list`, then what Reeve did not start. */
export function allRows({ sessions, foreign }: Pick<Board, "sessions" | "foreign">): readonly Row[] {
  let rows = ordered.get(sessions);
  if (rows === undefined) {
    rows = [...sessions.values()].toSorted(byNeed).map(remembered);
    ordered.set(sessions, rows);
  }
  return foreign.length === 0 ? rows : [...rows, ...foreign.map(foreignRow)];
}

/** Sessions and maps of them are never changed, so what was made of one stays right. */
const ordered = new WeakMap<Board["sessions"], readonly Row[]>();
const made = new WeakMap<SessionView, Row>();

function remembered(session: SessionView): Row {
  let row = made.get(session);
  if (row === undefined) {
    row = rowOf(session);
    made.set(session, row);
  }
  return row;
}

/** What is listed, in its order. */
export function rowsOf({ sessions, foreign, filter, search }: Board): readonly Row[] {
  if (filter === "all" && search === "") return allRows({ sessions, foreign });
  const words = search.toLowerCase().split(/\s+/);
  const found = ({ name, agent, word, branch, line }: Row): boolean => {
    const text = `${name} ${agent} ${word} ${branch} ${line}`.toLowerCase();
    return words.every((one) => text.includes(one));
  };
  return allRows({ sessions, foreign }).filter((row) => SHOWN[filter].has(row.need) && found(row));
}

/** The same, with the selection on a row that is there, and no session picked that is gone. */
export function settled(board: Board, now: number): Board {
  const rows = rowsOf(board);
  const at = rows.findIndex(({ id }) => id === board.selected);
  const selectedAt = at === -1 ? Math.max(0, Math.min(board.selectedAt, rows.length - 1)) : at;
  const selected = rows[selectedAt]?.id ?? null;
  const isSame = selected === board.selected;
  const asked = board.approvals.find(({ session_id: id }) => id === selected)?.approval_id ?? null;
  const question =
    asked === null ? null : isSame && board.question?.id === asked ? board.question : { id: asked, shownAt: now };
  const gone = [...board.picked].some((id) => !board.sessions.has(id));
  const picked = gone ? new Set([...board.picked].filter((id) => board.sessions.has(id))) : board.picked;
  const next = { ...board, selected, selectedAt, picked, question, scroll: isSame ? board.scroll : 0 };
  return { ...next, glance: glanceAt(next, now) };
}

export function selectedSession({ sessions, selected }: Board): SessionView | null {
  return selected === null ? null : (sessions.get(selected) ?? null);
}

/** What the selected session asks first. */
export function selectedApproval({ approvals, selected }: Board): ApprovalView | null {
  return approvals.find(({ session_id: id }) => id === selected) ?? null;
}

/** The selected agent that Reeve did not start. */
export function selectedForeign({ foreign, selected }: Board): ForeignView | null {
  return foreign.find((one) => foreignRow(one).id === selected) ?? null;
}
