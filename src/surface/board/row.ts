/** A session, or an agent that Reeve did not start, as one row: its state in a word, since when, the one line that matters. Pure. */
import type { ForeignView } from "../cli/foreign-text.ts";
import { infoOf, oneLine } from "../cli/session-text.ts";
import { isAsking, isDead, needOf, sinceOf } from "./need.ts";
import type { Need, Ranked } from "./need.ts";

export interface Row {
  readonly id: string;
  /** `foreign`: Reeve did not start it, and only looks at it. */
  readonly need: Need | "foreign";
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

/** How it is named here: by the agent and what holds it. */
export function foreignRow(foreign: ForeignView): Row {
  const { agent, pid, native_id: nativeId, activity, asks, cwd, held_by: heldBy } = foreign;
  const holder = heldBy === "daemon" ? "in its daemon" : "not started by Reeve";
  return {
    id: `foreign ${agent} ${pid ?? ""} ${nativeId ?? ""}`,
    need: "foreign",
    name: `(${oneLine(agent)}${pid === null ? "" : ` ${pid}`})`,
    agent: oneLine(agent),
    word: asks !== null ? "asks" : activity === "unknown" ? "runs" : activity,
    since: Number.NaN,
    branch: "",
    line: oneLine(asks ?? `${holder}${cwd === null ? "" : `, ${cwd}`}`),
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
