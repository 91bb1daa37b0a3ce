/** The selected session in full: who it is, what it asks, and its screen or transcript. Pure. */
import type { SessionView } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ForeignView } from "../cli/foreign-text.ts";
import { branchName } from "../cli/branch-text.ts";
import { localTime } from "../../platform/local-time.ts";
import { oneLine } from "../cli/session-text.ts";
import { drawnLines } from "./drawn-text.ts";
import { cutLine, span, wrapLine } from "./line.ts";
import type { Line } from "./line.ts";
import { styleOf } from "./look.ts";
import type { Look } from "./look.ts";
import { selectedApproval } from "./model.ts";
import type { ApprovalView, Board, Preview } from "./model.ts";

export interface Room {
  readonly columns: number;
  readonly height: number;
}

export function drawPreview(board: Board, session: SessionView, room: Room, look: Look): readonly Line[] {
  const asked = selectedApproval(board);
  const above = [...aboutLine(session, look), ...(asked === null ? [] : questionLines(board, asked, room, look))];
  const left = Math.max(0, room.height - above.length - 1);
  const preview = board.preview?.session === session.session_id ? board.preview : null;
  const title = preview === null ? "Reading…" : titleOf(preview, board.source, session);
  return [
    ...above,
    [span(title, styleOf("quiet", look))],
    ...(preview === null ? [] : bodyOf(preview, board.scroll, { ...room, height: left }, look)),
  ];
}

/** Of an agent that Reeve did not start: what is known, and how to bring it under Reeve's care. */
export function drawForeign(foreign: ForeignView, { columns }: Room, look: Look): readonly Line[] {
  const quiet = styleOf("quiet", look);
  const lines = [
    [span(oneLine(foreign.agent), styleOf("strong", look)), span(`  ${oneLine(foreign.cwd ?? "")}`, quiet)],
    [span(`Not started by Reeve, which only looks at it (${oneLine(foreign.evidence)}).`)],
    ...(foreign.asks === null ? [] : [[span(`Asks: ${oneLine(foreign.asks)}`, styleOf("notice", look))]]),
    [span(oneLine(foreign.advice))],
  ];
  return lines.flatMap((line) => wrapLine(line, columns, look.ruler));
}

function aboutLine(session: SessionView, look: Look): readonly Line[] {
  const parts = [session.agent, branchName(session.branch), session.cwd].flatMap((part) =>
    part === "" ? [] : [oneLine(part)],
  );
  const held = session.held === null ? [] : [[span(heldText(session.held), styleOf("notice", look))]];
  return [
    [span(oneLine(session.name), styleOf("strong", look)), span(`  ${parts.join(" · ")}`, styleOf("quiet", look))],
    ...held,
  ];
}

function heldText({ reason, until }: NonNullable<SessionView["held"]>): string {
  return `Held until ${localTime(new Date(until), new Date())}: ${oneLine(reason)}`;
}

/** Enough for most commands; a long one is better read in the session. */
const MOST_SUBJECT = 8;

function questionLines(board: Board, approval: ApprovalView, room: Room, look: Look): readonly Line[] {
  const notice = styleOf("notice", look);
  const quiet = styleOf("quiet", look);
  const title = oneLine(approval.title);
  const subject = stripTerminal(approval.subject ?? "")
    .trimEnd()
    .split("\n");
  const isTold = subject.length === 1 && title.includes(oneLine(subject[0] ?? ""));
  const shown = isTold ? [] : subject.slice(0, Math.min(MOST_SUBJECT, Math.max(1, room.height - 6)));
  const hidden = isTold ? 0 : subject.length - shown.length;
  const wrapped = (text: string, style: string): readonly Line[] =>
    wrapLine([span(text, style)], room.columns, look.ruler);
  const count = board.approvals.filter(({ session_id: id }) => id === approval.session_id).length;
  const several = count > 1 ? ` (1 of ${count})` : "";
  return [
    ...wrapped(`Asks: ${title}`, notice),
    ...shown.flatMap((line) => wrapped(`  ${line.replaceAll("\t", "  ")}`, notice)),
    ...(hidden > 0
      ? wrapped(`  (${hidden} more ${hidden === 1 ? "line" : "lines"}: press Enter to see all of it)`, quiet)
      : []),
    ...(approval.reason === null || title.includes(oneLine(approval.reason))
      ? []
      : wrapped(`Reason: ${oneLine(approval.reason)}`, "")),
    ...wrapped(`${howToAnswer(approval)}${several}`, quiet),
  ];
}

function howToAnswer({ answer, answerable }: ApprovalView): string {
  if (!answerable) return "Enter attaches, to answer it there";
  return answer === null ? "a approves · d denies" : `being answered: ${answer}`;
}

function titleOf({ source, note }: Preview, wanted: Board["source"], { liveness }: SessionView): string {
  const isOver = liveness === "exited" || liveness === "absent";
  const name = source === "transcript" ? "Transcript" : isOver ? "Last screen" : "Screen";
  if (source === wanted && source === "screen" && /^From (?:its|the last) screen/.test(note)) return `${name}:`;
  return `${name}: ${oneLine(note)}`;
}

function bodyOf(preview: Preview, scroll: number, room: Room, look: Look): readonly Line[] {
  const lines = drawnLines(preview.text, look.hasColour);
  const all =
    preview.source === "screen"
      ? screenLines(lines, room, look)
      : lines.flatMap((line) => wrapLine(line, room.columns, look.ruler));
  const end = Math.max(Math.min(room.height, all.length), all.length - scroll);
  return all.slice(Math.max(0, end - room.height), end);
}

/** A screen is cut where the room ends. One that is too high loses gaps first: agents leave many between their words. */
function screenLines(lines: readonly Line[], { columns, height }: Room, { ruler }: Look): readonly Line[] {
  const isGap = (line: Line | undefined): boolean => line === undefined || textOf(line).trim() === "";
  const kept = lines.length <= height ? lines : lines.filter((line, index) => !isGap(line) || !isGap(lines[index - 1]));
  return kept.map((line) => withoutSign(line, cutLine(line, columns, ruler)));
}

/** Where a ruled line or a gap goes on, nothing that can be read was cut there, and the sign that says so is left out. */
function withoutSign(whole: Line, cut: Line): Line {
  const last = cut.at(-1);
  if (cut === whole || last === undefined) return cut;
  const kept = textOf(cut).slice(0, -1);
  const [before, after] = [kept.at(-1) ?? " ", textOf(whole).charAt(kept.length)];
  if (before !== after || !/[ \u2500-\u257f]/.test(before)) return cut;
  return [...cut.slice(0, -1), { ...last, text: `${last.text.slice(0, -1)}${before}` }];
}

function textOf(line: Line): string {
  return line.map(({ text }) => text).join("");
}
