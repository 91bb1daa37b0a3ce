/**
 * What a report about a limit makes of its record: a rejection closes the gate,
 * or keeps it closed for longer; anything else says how much is used. Pure.
 */
import type { LimitReading } from "../session/limit.ts";
import type { Rejection } from "../session/quota-draw.ts";
import type { Evidence } from "../session/session.ts";
import { changedQuota, type Gate, isClosed, limitName, type Quota, quotaId, UNNAMED_LIMIT } from "./quota.ts";

export interface Moment {
  readonly now: number;
  /** In [0, 1), for jitter. */
  readonly random: number;
  /** The first wait for a limit whose reset nobody states. */
  readonly firstWaitMs: number;
}

const LONGEST_BACKOFF_MS = 3_600_000;
/** The longest window of a vendor is a week; a reset further away than this is a mistake. */
const LONGEST_WAIT_MS = 8 * 86_400_000;
/** A limit that was rejected so long ago says nothing any more: nobody took the report up in time. */
const STALE_MS = 60_000;

/** Two sources tell the same moment, one of them rounded. */
const SAME_MOMENT_MS = 1_000;

/** Doubles with each failure, up to an hour, and never the same for two accounts. */
export function backoffMs(failures: number, { random, firstWaitMs }: Moment): number {
  return Math.round(Math.min(LONGEST_BACKOFF_MS, firstWaitMs * 2 ** Math.min(failures, 20)) * (1 + random / 4));
}

/** `quotas`: all of this account. Answers those that change. */
export function afterRejection(
  quotas: readonly Quota[],
  rejection: Rejection,
  reporter: { readonly account: string; readonly sessionId: string },
  moment: Moment,
): readonly Quota[] {
  if (isStale(rejection, moment.now)) return [];
  const closed = quotas.filter(isClosed);
  const probed = closed.filter(({ gate }) => isProbedBy(gate, reporter.sessionId));
  if (rejection.limit === null && closed.length > 0) {
    // A turn that was under way when the gate closed fails as expected. The canary's failure, or one after it, is news.
    const again = probed.length > 0 ? probed : closed.filter(({ gate }) => gate.phase === "opening");
    return again.map((quota) => closedAgain(quota, rejection, reporter, moment));
  }
  const limit = limitName(rejection.limit);
  const known = quotas.find((quota) => quota.limit === limit) ?? newQuota(limit, reporter, moment.now);
  const others = closed
    .filter((quota) => quota.limit !== limit)
    // Now it has a name.
    .flatMap((quota) => (quota.limit === UNNAMED_LIMIT ? [changedQuota(quota, { gate: null })] : []));
  // The canary of another limit has met this one: whether that other one has been reset is not known.
  const vacant = probed
    .filter((quota) => quota.limit !== limit && quota.limit !== UNNAMED_LIMIT)
    .map((quota) => changedQuota(quota, { gate: { ...quota.gate, canary: null } }));
  return [reported(known, rejection, reporter, moment), ...others, ...vacant].filter((quota) => quota !== null);
}

/** Without a canary, whoever is rejected now was the first after the reset. */
function isProbedBy({ phase, canary }: Gate, sessionId: string): boolean {
  return phase === "probing" && (canary === null || canary.sessionId === sessionId);
}

function isStale({ resetsAt, at }: Rejection, now: number): boolean {
  return now - at > STALE_MS && (resetsAt === null || resetsAt <= now);
}

function reported(
  quota: Quota,
  rejection: Rejection,
  reporter: { readonly sessionId: string },
  moment: Moment,
): Quota | null {
  const { gate } = quota;
  if (gate === null) return closedBy(quota, rejection, reporter, { moment, failures: 0 });
  switch (gate.phase) {
    case "waiting":
      return betterKnown(quota, gate, rejection, reporter, moment);
    case "probing": {
      if (isProbedBy(gate, reporter.sessionId)) return closedAgain(quota, rejection, reporter, moment);
      // A turn from before the reset; if the vendor states another reset by now, that counts.
      const isLater = rejection.resetsAt !== null && rejection.resetsAt > moment.now;
      return isLater ? closedBy(quota, rejection, reporter, { moment, failures: gate.failures }) : null;
    }
    case "opening":
      return closedAgain(quota, rejection, reporter, moment);
  }
}

function closedAgain(
  quota: Quota,
  rejection: Rejection,
  reporter: { readonly sessionId: string },
  moment: Moment,
): Quota {
  return closedBy(quota, rejection, reporter, { moment, failures: (quota.gate?.failures ?? 0) + 1 });
}

function closedBy(
  quota: Quota,
  rejection: Rejection,
  { sessionId }: { readonly sessionId: string },
  { moment, failures }: { readonly moment: Moment; readonly failures: number },
): Quota {
  const { now } = moment;
  const waitMs = waitFor(rejection, failures, moment);
  const gate: Gate = {
    phase: "waiting",
    sinceAt: quota.gate?.sinceAt ?? now,
    dueAt: now + waitMs,
    waitMs,
    failures,
    canary: null,
    queue: [],
  };
  return changedQuota(quota, { ...toldBy(rejection, sessionId, quota), gate });
}

/** A stated reset counts. But a vendor whose resets keep coming to nothing is not asked every second. */
function waitFor({ resetsAt }: Rejection, failures: number, moment: Moment): number {
  const stated = resetsAt === null ? 0 : Math.min(LONGEST_WAIT_MS, resetsAt - moment.now);
  if (stated <= 0) return backoffMs(failures, moment);
  return failures < 2 ? stated : Math.max(stated, backoffMs(failures - 2, moment));
}

/** While it is closed: a better source replaces the reset of a worse one, never the reverse. */
function betterKnown(
  quota: Quota,
  gate: Gate,
  rejection: Rejection,
  reporter: { readonly sessionId: string },
  moment: Moment,
): Quota | null {
  const { resetsAt } = rejection;
  if (resetsAt === null || resetsAt <= moment.now || trust(rejection) < trust(quota)) return null;
  const isSame = quota.resetsAt !== null && Math.abs(resetsAt - quota.resetsAt) < SAME_MOMENT_MS;
  if (isSame && trust(rejection) === trust(quota)) return null;
  return closedBy(quota, rejection, reporter, { moment, failures: gate.failures });
}

/** What the agent's own records say counts more than a hook, and that more than what is taken from a text. */
function trust({ source, confidence, resetsAt }: Pick<Quota, "source" | "confidence" | "resetsAt">): number {
  if (resetsAt === null) return 0;
  if (confidence !== "stated") return 1;
  return TRUST[source];
}

const TRUST = {
  protocol: 4,
  transcript: 4,
  status: 4,
  hook: 3,
  screen: 2,
  operator: 2,
  session: 2,
  runtime: 2,
  supervisor: 2,
} as const satisfies Record<Evidence["source"], number>;

function toldBy(rejection: Rejection, sessionId: string, { usedPercent }: Quota): Partial<Quota> {
  const { resetsAt, confidence, source, text, at } = rejection;
  return {
    usedPercent: rejection.usedPercent ?? usedPercent,
    resetsAt,
    confidence,
    source,
    text,
    reportedBy: sessionId,
    reportedAt: at,
  };
}

/** From these on a person is warned, once in each window. */
export const WARNED_PERCENTS = [95, 80] as const;

/** How much is used, by an agent that was answered. Null: nothing new. */
export function afterUsage(
  quotas: readonly Quota[],
  reading: LimitReading,
  reporter: { readonly account: string; readonly sessionId: string; readonly source: Evidence["source"] },
  now: number,
): Quota | null {
  const limit = limitName(reading.limit);
  const known = quotas.find((quota) => quota.limit === limit) ?? newQuota(limit, reporter, now);
  const { usedPercent } = reading;
  // While it is closed, what its gate says counts.
  const { resetsAt } = isClosed(known) ? known : reading;
  const isNews = Math.round(usedPercent ?? -1) !== Math.round(known.usedPercent ?? -1) || isOther(resetsAt, known);
  if (!isNews) return null;
  const told = isClosed(known) ? {} : { confidence: reading.confidence, source: reporter.source, text: reading.text };
  return changedQuota(known, {
    ...told,
    usedPercent,
    resetsAt,
    reportedBy: reporter.sessionId,
    reportedAt: now,
    warned: warnedAt(known, usedPercent, resetsAt),
  });
}

/** Vendors round differently from one answer to the next. */
const SAME_RESET_MS = 120_000;

function isOther(resetsAt: number | null, known: Pick<Quota, "resetsAt">): boolean {
  if (resetsAt === null || known.resetsAt === null) return resetsAt !== known.resetsAt;
  return Math.abs(resetsAt - known.resetsAt) > SAME_RESET_MS;
}

function warnedAt({ warned }: Quota, usedPercent: number | null, resetsAt: number | null): Quota["warned"] {
  const percent = WARNED_PERCENTS.find((least) => usedPercent !== null && usedPercent >= least);
  if (percent === undefined) return null;
  const isSameWindow = warned !== null && !isOther(resetsAt, warned);
  return isSameWindow && warned.percent >= percent ? warned : { percent, resetsAt };
}

function newQuota(
  limit: string,
  { account, sessionId }: { readonly account: string; readonly sessionId: string },
  now: number,
): Quota {
  return {
    id: quotaId(account, limit),
    revision: 0,
    account,
    limit,
    usedPercent: null,
    resetsAt: null,
    confidence: "none",
    source: "supervisor",
    text: "",
    reportedBy: sessionId,
    reportedAt: now,
    warned: null,
    gate: null,
  };
}
