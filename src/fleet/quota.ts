/**
 * The limits that vendors set, as they are recorded: one record for each
 * account and limit. While a limit is reached its record has a gate, and every
 * session that draws on the account is parked behind it; a session's own record
 * says nothing of that. Pure: quota-report.ts closes gates, quota-gate.ts opens
 * them, and supervisor/fleet/breaker.ts does what they say.
 */
import type { LimitConfidence } from "../session/limit.ts";
import { defineKind } from "../session/record-kind.ts";
import { SOURCES, type Session } from "../session/session.ts";
import { count, instant, listOf, object, type Of, oneOf, orNull, positive, text, textOf } from "../session/shape.ts";

/** The name of a limit that nobody named: only that a turn failed because of one is known. */
export const UNNAMED_LIMIT = "unnamed";

const canary = object({
  sessionId: text,
  /** As they were when it was chosen: whether it has got an answer since. */
  turns: count,
  outputTokens: count,
});

const gate = object({
  /**
   * waiting: nobody may go before it is due. probing: it is due, and one
   * session (the canary) goes first. opening: the canary got an answer, and
   * those in `queue` follow one by one.
   */
  phase: oneOf("waiting", "probing", "opening"),
  sinceAt: instant,
  /** Wall time, for people and for the next daemon: a living one counts `waitMs` on a clock that nobody sets. */
  dueAt: instant,
  waitMs: instant,
  /** Canaries that failed in a row. */
  failures: count,
  canary: orNull(canary),
  queue: listOf(text),
});
export interface Gate extends Of<typeof gate> {}

const quotaShape = object({
  id: text,
  revision: positive,
  account: text,
  limit: text,
  /** 0 to 100; null where nobody said. */
  usedPercent: orNull(instant),
  /** As the vendor stated it; null where nobody did. */
  resetsAt: orNull(instant),
  confidence: textOf<LimitConfidence>(),
  source: oneOf(...SOURCES),
  /** In the agent's words. */
  text,
  /** Which session told of it last, and when. */
  reportedBy: text,
  reportedAt: instant,
  /** The last warning about how much is used: in which window, and from how many percent on. */
  warned: orNull(object({ percent: count, resetsAt: orNull(instant) })),
  /** Null while the limit is not reached. */
  gate: orNull(gate),
});
export interface Quota extends Of<typeof quotaShape> {}

export const quotaKind = defineKind<Quota>({
  name: "quota",
  parse(value) {
    if (!quotaShape.is(value)) throw new Error("it does not describe a limit");
    return value;
  },
  groupOf: ({ account }) => account,
});

/** Account ids and limits come from files and agents of the user: one line of a table holds them. */
const LONGEST_NAME = 120;

/**
 * What a session draws on, or null where it draws on nothing. Sessions of one
 * agent whose account is not known count as one account if they have the same
 * home: there the agent keeps its log-in.
 */
export function accountOf({
  identity,
  quota,
}: {
  readonly identity: Pick<Session["identity"], "agent" | "hasTurns" | "launch">;
  readonly quota: Pick<Session["quota"], "account">;
}): string | null {
  if (!identity.hasTurns) return null;
  const id = quota.account ?? `of ${identity.launch.paths["HOME"] ?? "this machine"}`;
  // An account that is called like its agent is named once.
  return (id === identity.agent ? id : `${identity.agent} ${id}`).slice(0, LONGEST_NAME);
}

export function quotaId(account: string, limit: string): string {
  return `${account} / ${limit}`;
}

export function limitName(limit: string | null): string {
  return (limit ?? UNNAMED_LIMIT).replace(/\s+/g, " ").trim().slice(0, LONGEST_NAME) || UNNAMED_LIMIT;
}

/** Whether this gate keeps the session from beginning anything. */
export function holds({ phase, canary: first, queue }: Gate, sessionId: string): boolean {
  switch (phase) {
    case "waiting":
      return true;
    case "probing":
      return first?.sessionId !== sessionId;
    case "opening":
      return queue.includes(sessionId);
  }
}

/** A limit with its gate. */
export interface ClosedQuota extends Quota {
  readonly gate: Gate;
}

export function isClosed(quota: Quota): quota is ClosedQuota {
  return quota.gate !== null;
}

/** What keeps a session from beginning anything; of several limits the one that lasts longest. */
export function heldBy(quotas: Iterable<Quota>, account: string | null, sessionId: string): ClosedQuota | null {
  let longest: ClosedQuota | null = null;
  for (const quota of quotas) {
    if (quota.account !== account || !isClosed(quota) || !holds(quota.gate, sessionId)) continue;
    if (longest === null || quota.gate.dueAt > longest.gate.dueAt) longest = quota;
  }
  return longest;
}

export function changedQuota(quota: Quota, changes: Partial<Omit<Quota, "id" | "revision">>): Quota {
  return { ...quota, ...changes, revision: quota.revision + 1 };
}
