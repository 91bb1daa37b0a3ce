/**
 * An item of work, as it is recorded: what is to be done, how far it is, and who
 * does it. It is pure. How it changes is in work-change.ts, what is to be done
 * about it next in next-work.ts.
 *
 * While somebody works on an item it has a flight: the session that does it, and
 * since when. It is begun in one commit with the start of that session, or with
 * the message that gives it the item, so an item is never given out twice. The
 * flight ends when the item is built, or when the session is proven to be gone.
 *
 * Records are stored under `open` or `closed` and their state (`groupOf`), so that
 * the open items are found by the store's index and not by reading all of them.
 */
import type { CallerName } from "../session/caller.ts";
import { defineKind } from "../session/record-kind.ts";
import { count, instant, listOf, object, type Of, oneOf, orNull, positive, text, textOf } from "../session/shape.ts";

/** In the order in which an item passes through them; the last three are ends. */
export const WORK_STATES = [
  "pending",
  "in-progress",
  "built",
  "changes-requested",
  "approved",
  "finalised",
  "done",
  "failed",
  "cancelled",
] as const;
export type WorkState = (typeof WORK_STATES)[number];

export const CLOSED_STATES = ["done", "failed", "cancelled"] as const satisfies readonly WorkState[];

/**
 * optional: next_work proposes a review; `reeve work run` lets the verification decide.
 * required: nothing is finalised before somebody approved it.
 * none: what is built counts as approved.
 */
export const REVIEWS = ["optional", "required", "none"] as const;
export type Review = (typeof REVIEWS)[number];

/** Higher goes first. */
export const PRIORITIES = { least: -1_000, normal: 0, most: 1_000 } as const;
/** For people who do not count. */
export const PRIORITY_WORDS = { high: 10, normal: 0, low: -10 } as const;

export const MOST_TITLE_CHARACTERS = 200;
/** Of the body, and of each text that somebody says about an item. */
export const MOST_TEXT_BYTES = 65_536;
export const MOST_DEPENDENCIES = 100;
export const MOST_RETRIES = 100;
/** They are kept in memory; an agent that adds without end is stopped before others notice. */
export const MOST_OPEN = 10_000;
export const MOST_OPEN_OF_SESSION = 1_000;

/** After so many reviews that asked for changes, a person decides. */
export const MOST_ROUNDS = 3;

const flight = object({
  /** The worker. */
  sessionId: text,
  /** Who gave it the item. */
  by: textOf<CallerName>(),
  since: instant,
  /** Turns that the session had begun by then: only a later one is about the item. */
  turnsBefore: count,
});
export interface Flight extends Of<typeof flight> {}

const result = object({
  /** What was done, in the worker's words. */
  text,
  sessionId: orNull(text),
  by: textOf<CallerName>(),
  at: instant,
});
export interface WorkResult extends Of<typeof result> {}

const verdict = object({
  verdict: oneOf("approved", "changes-requested"),
  /** What is to be changed, or what the reviewer remarks. */
  text,
  /** The commit that was looked at; null where the checkout is no repository, or nobody said. */
  commit: orNull(text),
  by: textOf<CallerName>(),
  at: instant,
});
export interface ReviewVerdict extends Of<typeof verdict> {}

const verification = object({
  /** Null: it was ended by Reeve, or could not be started. */
  exitCode: orNull(instant),
  /** The end of what it printed, or why it has no exit code. */
  text,
  at: instant,
});
export interface Verification extends Of<typeof verification> {}

const workShape = object({
  id: text,
  revision: positive,
  title: text,
  body: text,
  /** -1,000 to 1,000. */
  priority: instant,
  /** Ids of items that must be done first. */
  dependencies: listOf(text),
  /** What its worker must be; null: whatever whoever gives it out decides. */
  agent: orNull(text),
  role: orNull(text),
  branch: orNull(text),
  /** Where it is done. */
  cwd: orNull(text),
  review: oneOf(...REVIEWS),
  /** Run in the worker's checkout when the item is built: its exit code decides. */
  verify: orNull(listOf(text)),
  /** How often it is given out again after a worker failed. */
  retryLimit: count,
  state: oneOf(...WORK_STATES),
  flight: orNull(flight),
  /** Flights that ended without a result, since it was added or retried. */
  failures: count,
  /** Reviews that asked for changes, since it was added or retried. */
  rounds: count,
  result: orNull(result),
  verification: orNull(verification),
  reviewed: orNull(verdict),
  /** Why it failed or was cancelled. */
  why: orNull(text),
  /** Who worked on it, newest last and bounded. */
  sessions: listOf(text),
  /** Commits that belong to it, newest last and bounded. */
  commits: listOf(text),
  createdBy: textOf<CallerName>(),
  createdAt: instant,
  changedAt: instant,
});

export type WorkItem = Of<typeof workShape>;

/** What whoever adds it decides. */
export type NewWork = Pick<
  WorkItem,
  | "id"
  | "title"
  | "body"
  | "priority"
  | "dependencies"
  | "agent"
  | "role"
  | "branch"
  | "cwd"
  | "review"
  | "verify"
  | "retryLimit"
  | "createdBy"
  | "createdAt"
>;

export const workKind = defineKind<WorkItem>({
  name: "work",
  parse(value) {
    if (!workShape.is(value)) throw new Error("it does not describe an item of work");
    return value;
  },
  groupOf: (item) => groupOf(item.state),
});

/** Groups of what is open begin with `open/`, of the rest with `closed/`. */
export function groupOf(state: WorkState): string {
  return `${isClosed(state) ? "closed" : "open"}/${state}`;
}

export function isClosed(state: WorkState): boolean {
  return CLOSED_STATES.some((closed) => closed === state);
}

export function addedWork(work: NewWork): WorkItem {
  return {
    ...work,
    revision: 1,
    state: "pending",
    flight: null,
    failures: 0,
    rounds: 0,
    result: null,
    verification: null,
    reviewed: null,
    why: null,
    sessions: [],
    commits: [],
    changedAt: work.createdAt,
  };
}

/** Highest priority first, then the oldest. */
export function inOrder(one: Ordered, other: Ordered): number {
  return (
    other.priority - one.priority ||
    one.createdAt - other.createdAt ||
    (one.id === other.id ? 0 : one.id < other.id ? -1 : 1)
  );
}

type Ordered = Pick<WorkItem, "priority" | "createdAt" | "id">;

/** What keeps a session that is over: somebody may want to look at how it was done. Null: nothing does. */
export function openWorkOf(open: readonly WorkItem[], sessionId: string): string | null {
  const item = open.find(({ sessions }) => sessions.includes(sessionId));
  return item === undefined ? null : `It worked on ${item.id}, which is not done: reeve work show ${item.id}`;
}
