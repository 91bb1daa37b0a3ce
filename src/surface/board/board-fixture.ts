/** For tests: boards with sessions in them, and their frames as plain text. */
import type { SessionView } from "../../client/operation-types.ts";
import { sessionView } from "../cli/session-fixture.ts";
import { asciiRuler } from "../cli/text-ruler.ts";
import type { Look } from "./look.ts";
import { EMPTY_BOARD, settled } from "./model.ts";
import type { ApprovalView, Board } from "./model.ts";
import type { Frame } from "./render.ts";

export const NOW = Date.parse("2026-11-16T12:00:00.000Z");
export const PLAIN: Look = { hasColour: false, ruler: asciiRuler };

export function ago(seconds: number): string {
  return new Date(NOW - seconds * 1_000).toISOString();
}

/** Its id is its name. */
export function session(name: string, fields: Partial<SessionView> = {}): SessionView {
  return {
    ...sessionView({ session_id: name, name, need_since: ago(30) }),
    ...fields,
  };
}

export const asking = (name: string, seconds = 30): SessionView =>
  session(name, {
    activity: "awaiting-approval",
    need: "blocked",
    need_since: ago(seconds),
    headline: `Run ${name}.sh?`,
    approvals: 1,
    turn_open: true,
  });

export const working = (name: string): SessionView =>
  session(name, { need: "working", activity: "working", turn_open: true });

/** Its turn is over, and nobody has looked. */
export const finished = (name: string): SessionView =>
  session(name, { need: "finished", unseen: true, headline: "All 12 tests pass." });

export const dead = (name: string): SessionView =>
  session(name, {
    state: "error",
    liveness: "exited",
    exit: { code: 70, signal: null, at: ago(90) },
    need: "failed",
    need_since: ago(90),
    headline: "Its process exited with status 70.",
    unseen: true,
  });

export function approvalOf(name: string, fields: Partial<ApprovalView> = {}): ApprovalView {
  return {
    approval_id: `${name}-1`,
    session_id: name,
    session_name: name,
    agent: "practice",
    kind: "command",
    title: `Run ${name}.sh?`,
    subject: null,
    cwd: null,
    reason: null,
    requested_at: ago(30),
    answer: null,
    choices: null,
    answerable: true,
    how_to_answer: null,
    ...fields,
  };
}

/** As it is a while after these came in. */
export function boardOf(sessions: readonly SessionView[], fields: Partial<Board> = {}): Board {
  const board: Board = {
    ...EMPTY_BOARD,
    link: "live",
    sessions: new Map(sessions.map((one) => [one.session_id, one])),
    approvals: sessions.filter(({ approvals }) => approvals > 0).map(({ name }) => approvalOf(name)),
    ...fields,
  };
  return settled(board, NOW - 10_000);
}

export function textOfFrame({ lines }: Frame): readonly string[] {
  return lines.map((line) =>
    line
      .map(({ text }) => text)
      .join("")
      .trimEnd(),
  );
}
