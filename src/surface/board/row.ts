/** A session, or an agent that Reeve did not start, as one row: what it needs in a word, since when, the one line that matters. Pure. */
import type { SessionView } from "../../client/operation-types.ts";
import { NEED_WORDS } from "../../session/need-order.ts";
import type { Need } from "../../session/need-order.ts";
import type { ForeignView } from "../cli/foreign-text.ts";
import { branchName } from "../cli/branch-text.ts";
import { infoOf, oneLine } from "../cli/session-text.ts";

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

/** In the words of `list`: its summary names the same needs, and its INFO is the same line. */
export function rowOf(session: SessionView): Row {
  return {
    id: session.session_id,
    need: session.need,
    name: oneLine(session.name),
    agent: oneLine(session.agent),
    word: NEED_WORDS[session.need],
    since: Date.parse(session.need_since),
    branch: oneLine(branchName(session.branch)),
    line: infoOf(session),
  };
}

/** How it is named here: by the agent and its process. */
export function foreignRow(foreign: ForeignView): Row {
  const { agent, pid, native_id: nativeId, activity, asks, cwd, held_by: heldBy } = foreign;
  const places = [...(heldBy === "daemon" ? ["in its daemon"] : []), ...(cwd === null ? [] : [cwd])];
  return {
    id: `foreign ${agent} ${pid ?? ""} ${nativeId ?? ""}`,
    need: "foreign",
    name: `(${oneLine(agent)}${pid === null ? "" : ` ${pid}`})`,
    agent: oneLine(agent),
    word: asks !== null ? "asks" : activity === "unknown" ? "runs" : activity,
    since: Number.NaN,
    branch: "",
    line: oneLine(asks ?? places.join(", ")),
  };
}
