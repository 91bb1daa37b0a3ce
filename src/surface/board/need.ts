/**
 * Who needs a person most. Ranks sessions, and says in one line how many of
 * each there are. Pure. `list` has the same order; `unseen` is used where the
 * daemon tells it.
 */
import type { SessionView } from "../../client/operation-types.ts";

/** A session, with what newer daemons tell of it. */
export type Ranked = SessionView & {
  /** It finished something that nobody has looked at yet. */
  readonly unseen?: boolean;
  /** The one line that matters. */
  readonly headline?: string | null;
};

/** The most urgent first. */
export const NEEDS = ["blocked", "failed", "unseen", "working", "idle"] as const;
export type Need = (typeof NEEDS)[number];

export function needOf(session: Ranked): Need {
  if (isDead(session)) return hasFailed(session) ? "failed" : session.unseen ? "unseen" : "idle";
  if (session.desired === "stopped") return "working";
  if (isAsking(session) || session.stalled_since !== null) return "blocked";
  if (session.state === "paused") return "idle";
  if (session.state === "error") return "failed";
  if (isWorking(session)) return "working";
  if (!session.turn_open && session.last_turn === "failed") return "failed";
  return session.unseen ? "unseen" : "idle";
}

/** Whether its process is gone, as far as that is proven. */
export function isDead({ liveness, state }: SessionView): boolean {
  return liveness === "exited" || liveness === "absent" || state === "stopped";
}

export function isAsking({ activity }: SessionView): boolean {
  return activity === "awaiting-approval" || activity === "awaiting-input";
}

function hasFailed({ state, exit }: SessionView): boolean {
  return state === "error" || (state !== "stopped" && exit !== null && exit.code !== 0);
}

function isWorking({ state, activity, turn_open: isTurnOpen }: SessionView): boolean {
  if (state === "planned" || state === "starting" || isTurnOpen) return true;
  // A program without turns works for as long as it runs.
  return activity === "working" || activity === "starting" || activity === "unknown";
}

/** Since when it is as it is now, as an instant of the wall clock. */
export function sinceOf(session: SessionView): number {
  const { exit, ended_at: endedAt, stalled_since: stalledSince, evidence, started_at: startedAt } = session;
  if (isDead(session)) return Date.parse(exit?.at ?? endedAt ?? evidence.at);
  if (isAsking(session)) return Date.parse(session.activity_since);
  if (stalledSince !== null) return Date.parse(stalledSince);
  if (session.state !== "running") return Date.parse(evidence.at);
  if (session.activity === "unknown") return Date.parse(startedAt ?? session.created_at);
  return Date.parse(session.activity_since);
}

/** By need; those who wait the longest, and what happened last, first; then by name. */
export function byNeed(one: Placed, other: Placed): number {
  if (one.need !== other.need) return RANKS.indexOf(one.need) - RANKS.indexOf(other.need);
  const waited = one.since - other.since;
  if (one.need === "blocked" && waited !== 0) return waited;
  if ((one.need === "failed" || one.need === "unseen") && waited !== 0) return -waited;
  return inOrder(one.name, other.name) || inOrder(one.id, other.id);
}

const RANKS: readonly (Need | "foreign")[] = [...NEEDS, "foreign"];

interface Placed {
  readonly need: Need | "foreign";
  readonly since: number;
  readonly name: string;
  readonly id: string;
}

function inOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const SUMMARY = [
  ["blocked", "need you", "needs you"],
  ["unseen", "finished", "finished"],
  ["working", "working", "working"],
  ["idle", "idle", "idle"],
  ["failed", "failed", "failed"],
  ["foreign", "foreign", "foreign"],
] as const satisfies readonly (readonly [Need | "foreign", string, string])[];

/** "2 need you · 3 working · 1 idle · 1 failed"; empty without sessions. */
export function summaryParts(
  rows: Iterable<{ readonly need: Need | "foreign" }>,
): readonly { readonly need: Need | "foreign"; readonly text: string }[] {
  const counts = new Map<Need | "foreign", number>();
  for (const { need } of rows) counts.set(need, (counts.get(need) ?? 0) + 1);
  return SUMMARY.flatMap(([need, many, one]) => {
    const count = counts.get(need) ?? 0;
    return count === 0 ? [] : [{ need, text: `${count} ${count === 1 ? one : many}` }];
  });
}
