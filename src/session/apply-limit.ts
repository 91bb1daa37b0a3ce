/**
 * Notes what a reading says of a limit that is reached: for the breaker, which
 * takes it up in a commit of its own (supervisor/fleet/breaker.ts), and for the
 * turn that failed because of it.
 */
import { amend } from "./amend.ts";
import type { SessionEvent } from "./event.ts";
import { treatmentOf } from "./failure.ts";
import type { LimitReading } from "./limit.ts";
import type { Rejection } from "./quota-draw.ts";
import type { Reading } from "./reading.ts";
import type { Session } from "./session.ts";

/** More limits than these are not told of before the breaker has taken them up. */
const MOST_REJECTIONS = 4;

/** `events`: what the reading meant for its turns. */
export function applyLimits(
  session: Session,
  reading: Reading,
  { events, now }: { readonly events: readonly SessionEvent[]; readonly now: number },
): Session {
  const hasFailed = events.some((event) => isFailure(event, session));
  const rejected = (reading.limits ?? []).filter(
    (limit) => limit.status === "rejected" && !isOld(session, limit) && isLive(limit, reading, hasFailed, now),
  );
  const isByLimit = hasFailed && isLimitFailure(session, rejected.length > 0);
  if (rejected.length === 0 && !isByLimit) return session;
  const { conversation, quota } = session;
  const noted: readonly Rejection[] =
    rejected.length > 0
      ? rejected.map(({ limit, usedPercent, resetsAt, confidence, text, at = now }) => ({
          limit,
          usedPercent,
          resetsAt,
          confidence,
          source: reading.source,
          text,
          at,
        }))
      : [unnamed(reading, conversation.lastTurn?.error ?? "", now)];
  const before = isByLimit ? { turn: conversation.turns, resumesItself: false } : quota.failed;
  const resumesItself = rejected.some((limit) => limit.resumesItself === true);
  return amend(session, {
    quota: {
      rejections: [...quota.rejections, ...noted].slice(-MOST_REJECTIONS),
      failed: before === null || !resumesItself ? before : { ...before, resumesItself },
    },
  });
}

/** Its newest turn failed because of a limit, and nothing has happened since. */
export function failedTurnOf({ conversation, quota }: Session): NonNullable<Session["quota"]["failed"]> | null {
  const { failed } = quota;
  const isNewest = failed?.turn === conversation.turns && !conversation.turnOpen;
  return isNewest && conversation.lastTurn?.verdict === "failed" ? failed : null;
}

function isFailure(event: SessionEvent, { conversation: { turns, turnOpen } }: Session): boolean {
  if (event.type === "turn-corrected") return event.verdict === "failed" && event.turn === turns && !turnOpen;
  return event.type === "turn-failed" && event.turn === turns && !turnOpen;
}

function isLimitFailure({ conversation: { lastTurn } }: Session, isNamed: boolean): boolean {
  const kind = lastTurn?.failure ?? null;
  if (kind === null) return false;
  return treatmentOf(kind).retry === "reset" || (kind === "unknown" && isNamed);
}

/** A conversation that is continued here tells again what happened elsewhere. */
export function isOld({ identity }: Session, { at }: LimitReading): boolean {
  return at !== undefined && at < identity.createdAt;
}

/** What was written long ago says nothing of now: a limit that has been reset since, a turn that was told before. */
function isLive({ resetsAt }: LimitReading, reading: Reading, hasFailed: boolean, now: number): boolean {
  if (reading.isHistory === true) return false;
  if (hasFailed) return true;
  return resetsAt === null ? reading.turn === undefined : resetsAt > now;
}

function unnamed({ source }: Reading, text: string, at: number): Rejection {
  return { limit: null, usedPercent: null, resetsAt: null, confidence: "none", source, text, at };
}
