/** A session as one row of the board: its state in a word, since when, and the one line that matters. Pure. */
import { infoOf, oneLine } from "../cli/session-text.ts";
import { isAsking, isDead, needOf, sinceOf } from "./need.ts";
import type { Need, Ranked } from "./need.ts";

export interface Row {
  readonly id: string;
  readonly need: Need;
  readonly name: string;
  readonly agent: string;
  readonly word: string;
  readonly since: number;
  readonly branch: string;
  readonly line: string;
}

export function rowOf(session: Ranked): Row {
  return {
    id: session.session_id,
    need: needOf(session),
    name: oneLine(session.name),
    agent: oneLine(session.agent),
    word: wordOf(session),
    since: sinceOf(session),
    branch: oneLine(session.branch.declared ?? ""),
    line: headlineOf(session),
  };
}

function wordOf(session: Ranked): string {
  const need = needOf(session);
  if (isDead(session)) return need === "failed" ? "failed" : need === "unseen" ? "finished" : "exited";
  if (session.liveness === "unreachable") return "unreachable";
  if (session.desired === "stopped") return "ending";
  if (isAsking(session)) return "asks";
  if (need === "blocked") return "stalled";
  if (need === "failed") return "failed";
  if (need === "unseen") return "finished";
  if (session.state === "planned" || session.state === "starting") return "starting";
  if (session.state === "paused") return "paused";
  if (need === "idle") return "idle";
  return session.activity === "unknown" ? "running" : "working";
}

/** As the daemon tells it, else as `list` says it; that a process runs, and as which, is no news. */
function headlineOf(session: Ranked): string {
  const told = session.headline;
  if (typeof told === "string" && told !== "" && !isAsking(session)) return oneLine(told);
  const info = infoOf(session);
  return session.reason_code === "process-started" && info === oneLine(session.reason) ? "" : info;
}
