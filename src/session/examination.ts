/**
 * What successive looks at a session that should be working show: whether its
 * processes can run at all, and whether anything moves although nothing is
 * heard. Kept in memory only. Instants are of the monotonic clock; what a look
 * cannot know (the past before it, a gap) it does not conclude from.
 */
import { countMiss, isEnough } from "./misses.ts";
import type { ProcessVitals } from "./process-vitals.ts";

/** One look. An instant that is null: never, as far as this daemon knows. */
export interface Look {
  readonly at: number;
  readonly processes: readonly ProcessVitals[];
  /** When its protocol, a hook, its transcript or its status file last told something. */
  readonly heardAt: number | null;
  /** When something was last drawn on its terminal. */
  readonly drewAt: number | null;
  /** Since when the agent's own protocol owes an answer; null where it owes none. */
  readonly unansweredSince: number | null;
}

export interface Examination {
  /** Silence is counted from here on. */
  readonly since: number;
  /** Processes that were there before its turn. */
  readonly earlier: ReadonlySet<string>;
  /** With them, those of the agent itself, as the first look showed them: whatever else is there, its turn runs. */
  readonly own: ReadonlySet<string> | null;
  readonly last: Look | null;
  /** Looks in a row at which something kept it from running, and what that was at the last one. */
  readonly misses: number;
  readonly complaint: string | null;
  readonly stuckSince: number | null;
  /** When what its turn runs last used the processor. */
  readonly workedAt: number | null;
  /** When anything of it last used the processor, or drew. */
  readonly movedAt: number | null;
  /** How much processor time it used between the last two looks, and how long that was. */
  readonly usedMs: number;
  readonly overMs: number;
}

export interface Finding {
  readonly verdict: "healthy" | "slow" | "hung";
  readonly detail: string;
}

/** A kernel that waits for a slow disk comes back within seconds. */
const STUCK_MS = 60_000;
/** An agent's server answers within milliseconds; on a machine that swaps it may take seconds. */
const UNANSWERED_MS = 30_000;
/** Of one core. A server that only waits for files to change uses less, a compiler more. */
const WORKING_SHARE = 0.02;

/** `earlier`: processes of it that were seen before, by their ids. */
export function beginExamination(now: number, earlier: ReadonlySet<string> = new Set()): Examination {
  return {
    since: now,
    earlier,
    own: null,
    last: null,
    misses: 0,
    complaint: null,
    stuckSince: null,
    workedAt: null,
    movedAt: null,
    usedMs: 0,
    overMs: 0,
  };
}

/** The machine slept, the daemon was stopped or the clock was set: what was seen before says nothing about now. */
export function forgetLooks({ own, earlier }: Examination, now: number): Examination {
  return { ...beginExamination(now, earlier), own };
}

export function afterLook(before: Examination, look: Look): Examination {
  const { last, earlier } = before;
  // What a turn runs seldom has the terminal: if it does, and began before the first look, it passes for the agent.
  const own = before.own ?? new Set([...earlier, ...idsOf(look.processes.filter(({ isForeground }) => isForeground))]);
  const overMs = last === null ? 0 : look.at - last.at;
  const usedMs = last === null ? 0 : Math.max(0, cpuOf(look) - cpuOf(last));
  const workMs = last === null ? 0 : Math.max(0, workOf(look, own) - workOf(last, own));
  const isMuch = (ms: number): boolean => overMs > 0 && ms >= overMs * WORKING_SHARE;
  const isStuck = usedMs === 0 && look.processes.some((one) => one.isForeground && one.state === "stuck");
  const stuckSince = isStuck ? (before.stuckSince ?? look.at) : null;
  const complaint = complaintOf(look, stuckSince);
  return {
    since: before.since,
    earlier,
    own,
    last: look,
    misses: countMiss(before.misses, complaint !== null),
    complaint,
    stuckSince,
    workedAt: isMuch(workMs) ? look.at : before.workedAt,
    movedAt: latest(before.movedAt, look.drewAt, isMuch(usedMs) ? look.at : null),
    usedMs,
    overMs,
  };
}

/** `wasHung`: it was found to hang before; as long as the cause is there, a gap changes nothing about that. */
export function findingOf(
  { since, last, misses, complaint, movedAt }: Examination,
  { isWorking, wasHung, slowAfterMs }: Bounds,
): Finding {
  if (complaint !== null && (wasHung || isEnough(misses))) return { verdict: "hung", detail: complaint };
  if (last === null) return { verdict: "healthy", detail: "not looked at yet" };
  const heardAt = Math.max(since, last.heardAt ?? since);
  const silentMs = last.at - heardAt;
  if (isWorking && silentMs >= slowAfterMs && movedAt !== null && movedAt > heardAt)
    return { verdict: "slow", detail: `nothing was heard from it for ${seconds(silentMs)}, but it is not idle` };
  return { verdict: "healthy", detail: "its processes run" };
}

export interface Bounds {
  readonly isWorking: boolean;
  readonly wasHung: boolean;
  readonly slowAfterMs: number;
}

/** For people: what the verdict rests on, a sentence each. */
export function signsOf({ last, own, usedMs, overMs, workedAt }: Examination, now: number): readonly string[] {
  if (last === null) return [];
  const { processes, heardAt, drewAt, unansweredSince } = last;
  const tools = processes.filter(({ id }) => own?.has(id) === false).length;
  const counted = `${processes.length} process${processes.length === 1 ? "" : "es"}${tools === 0 ? "" : `, ${tools} of them started in this turn`}`;
  const recent = overMs === 0 ? "" : `, ${seconds(usedMs)} of it in the last ${seconds(overMs)}`;
  const ago = (at: number | null): string => (at === null ? "not seen yet" : `${seconds(now - at)} ago`);
  return [
    `${counted}; processor time ${seconds(cpuOf(last))}${recent}.`,
    `It was heard (protocol, hooks, transcript, status file): ${ago(heardAt)}.`,
    `Its terminal changed: ${ago(drewAt)}.`,
    ...(workedAt === null ? [] : [`What its turn runs used the processor: ${ago(workedAt)}.`]),
    ...(unansweredSince === null ? [] : [`Its protocol has not answered for ${seconds(now - unansweredSince)}.`]),
  ];
}

/** Its processes as they were last seen. */
export function seenIn({ last, earlier }: Examination): ReadonlySet<string> {
  return last === null ? earlier : new Set(idsOf(last.processes));
}

function idsOf(processes: readonly ProcessVitals[]): readonly string[] {
  return processes.map(({ id }) => id);
}

function complaintOf({ at, processes, unansweredSince }: Look, stuckSince: number | null): string | null {
  const stopped = processes.filter(({ isForeground, state }) => isForeground && state === "stopped");
  const [first] = stopped;
  if (first !== undefined)
    return `${first.text}${stopped.length === 1 ? " is" : ` and ${stopped.length - 1} more are`} stopped, and not by Reeve`;
  const stuck = processes.find(({ isForeground, state }) => isForeground && state === "stuck");
  if (stuck !== undefined && stuckSince !== null && at - stuckSince >= STUCK_MS)
    return `${stuck.text} has waited inside the kernel for ${seconds(at - stuckSince)} without running`;
  if (unansweredSince !== null && at - unansweredSince >= UNANSWERED_MS)
    return `its protocol has not answered for ${seconds(at - unansweredSince)}, although its process is there`;
  return null;
}

function cpuOf({ processes }: Look): number {
  return sum(processes.map(({ cpuMs, endedCpuMs }) => cpuMs + endedCpuMs));
}

/** A spinner that turns while the model is silent is the agent's own doing, so its processor time does not count. */
function workOf({ processes }: Look, own: ReadonlySet<string>): number {
  return sum(processes.map(({ id, cpuMs, endedCpuMs }) => (own.has(id) ? 0 : cpuMs) + endedCpuMs));
}

function latest(...instants: readonly (number | null)[]): number | null {
  return instants.reduce((one, other) => (one === null || (other !== null && other > one) ? other : one), null);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function seconds(ms: number): string {
  return `${ms < 10_000 ? Number((Math.max(0, ms) / 1_000).toFixed(1)) : Math.round(ms / 1_000)} s`;
}
