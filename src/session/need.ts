/**
 * Who needs a person now? One answer for every surface: the list, the board,
 * the page and programs all show and order sessions by it.
 */
import { isUnseen } from "./notice.ts";
import type { Session } from "./session.ts";
import { isEnded } from "./session.ts";

/**
 * In the order in which a person should look at them:
 * blocked: it asks something, or nothing was heard of its turn for a while.
 * failed: its process died, could not be started, or its last turn failed and nobody has seen that.
 * finished: its turn or its program is over, and nobody has seen that.
 * unreachable: what it does is not known right now.
 */
export const NEEDS = ["blocked", "failed", "finished", "unreachable", "working", "idle", "paused", "stopped"] as const;
export type Need = (typeof NEEDS)[number];

/** Those that wait for a person. */
export const NEEDS_SOMEBODY: ReadonlySet<Need> = new Set<Need>(["blocked", "failed", "finished"]);

export function needOf(session: Session): Need {
  if (isEnded(session)) return "stopped";
  if (session.state === "error") return "failed";
  if (session.exit !== null) return session.state === "stopped" ? restOf(session) : "working";
  if (session.liveness.status === "unreachable") return "unreachable";
  if (isAsking(session) || session.stalledAt !== null) return "blocked";
  if (session.state === "paused") return "paused";
  if (session.activity.status === "idle" && !session.turnOpen) return restOf(session);
  return "working";
}

function restOf(session: Session): Need {
  const isAlive = session.exit === null;
  if (!isUnseen(session)) return isAlive ? "idle" : "stopped";
  return isAlive && session.lastTurn?.verdict === "failed" ? "failed" : "finished";
}

/** Since when it is so. */
export function needSince(session: Session): number {
  if (session.exit !== null) return session.exit.at;
  if (session.liveness.status === "unreachable") return session.liveness.evidence.at;
  if (isAsking(session)) return session.activity.evidence.at;
  if (session.stalledAt !== null) return session.stalledAt;
  if (session.state === "paused") return session.reason.evidence.at;
  return session.activity.evidence.at;
}

/**
 * The one line that matters: what it asks, what it died of, what stands in
 * the way, or the last sentence it said. Empty where there is nothing to say.
 */
export function headlineOf(session: Session): string {
  const { notice, activity, reason } = session;
  if (session.exit !== null) return deathOf(session);
  if (isAsking(session)) return activity.asks ?? "It asks for something; its screen shows what.";
  if (session.liveness.status === "unreachable") return `Cannot be reached: ${session.liveness.evidence.detail}`;
  if (session.desired === "stopped") return session.stop?.afterTurn === true ? "Ends after this turn." : "Being ended.";
  if (session.stalledAt !== null) return "Nothing was heard of its turn for a while; look at its screen.";
  if (session.state !== "running") return reason.text;
  if (session.held !== null) return `Not restarted by itself: ${session.held.reason}`;
  if (session.turnOpen) return notice.said ?? "";
  if (session.lastTurn?.verdict === "failed") return `Its turn failed: ${session.lastTurn.error ?? "no reason given"}`;
  if (session.lastTurn?.verdict === "interrupted") return notice.said ?? "Its turn was interrupted.";
  return notice.said ?? "";
}

/** What it printed last, if it ended by itself; what is left on the screen of one that was killed says nothing. */
function deathOf({ notice, reason, exit, hasTurns, desired }: Session): string {
  const code = exit?.code ?? null;
  if (desired === "stopped" || code === null) return reason.text;
  if (code === 0) return (hasTurns ? notice.said : notice.lastLine) ?? reason.text;
  return notice.lastLine === null ? reason.text : `${notice.lastLine} (exit status ${code})`;
}

function isAsking({ activity }: Session): boolean {
  return activity.status === "awaiting-approval" || activity.status === "awaiting-input";
}

export interface Needing {
  readonly need: Need;
  readonly need_since: string;
}

/** Who needs somebody comes first, and of those who has waited longest; the others stay as they were. */
export function byNeed(one: Needing, other: Needing): number {
  const difference = NEEDS.indexOf(one.need) - NEEDS.indexOf(other.need);
  if (difference !== 0 || !NEEDS_SOMEBODY.has(one.need)) return difference;
  // Not by localeCompare: what it loads takes longer than the rest of a list.
  return one.need_since < other.need_since ? -1 : one.need_since > other.need_since ? 1 : 0;
}

const COUNTED: Readonly<Record<Need, (count: number) => string>> = {
  blocked: (count) => `${count} ${count === 1 ? "needs" : "need"} you`,
  failed: (count) => `${count} failed`,
  finished: (count) => `${count} finished`,
  unreachable: (count) => `${count} unreachable`,
  working: (count) => `${count} working`,
  idle: (count) => `${count} idle`,
  paused: (count) => `${count} paused`,
  stopped: (count) => `${count} stopped`,
};

/** "2 need you · 1 failed · 3 working". */
export function summaryOf(sessions: readonly Needing[]): string {
  const counts = NEEDS.map((need) => ({ need, count: sessions.filter((session) => session.need === need).length }));
  return counts.flatMap(({ need, count }) => (count === 0 ? [] : [COUNTED[need](count)])).join(" \u00b7 ");
}
