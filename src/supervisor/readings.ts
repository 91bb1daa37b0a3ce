/**
 * The one way in for what agents' adapters read: secrets are taken out, the
 * last word of each source is remembered for `explain`, and the rest is the
 * ledger's. In memory only the last words; what counts is in the record.
 */
import type { Clock } from "../platform/clock.ts";
import type { ApprovalRequest } from "../session/approval.ts";
import { promptPrint } from "../session/prompt-print.ts";
import type { Reading, TurnReading } from "../session/reading.ts";
import type { Evidence, Session, TranscriptCursor } from "../session/session.ts";
import type { IdempotencyRecord } from "../store/contract.ts";
import type { Ledger } from "./ledger.ts";

export interface LastWord {
  readonly source: Evidence["source"];
  readonly detail: string;
  readonly said: string | null;
  readonly at: number;
  /** What came of it: counted, or why not (yet). */
  readonly weight: string;
}

export interface Readings {
  /** Commits what the reading says about this incarnation of the session. */
  take(session: Pick<Session, "id" | "incarnation">, reading: Reading, idempotency?: IdempotencyRecord): Promise<void>;
  /** What new lines of the transcript said, in one commit with how far it has been read. */
  takeLines(
    session: Pick<Session, "id" | "incarnation">,
    readings: readonly Reading[],
    cursor: TranscriptCursor,
  ): Promise<void>;
  /** Remembered, but not (yet) counted, and why. */
  note(sessionId: string, reading: Reading, weight: string): void;
  /** Something moved: monotonic, for the stall watch. */
  lastSignAt(sessionId: string): number | null;
  lastWords(sessionId: string): readonly LastWord[];
  forget(sessionId: string): void;
}

export function createReadings(parts: {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** Without the session's secrets; null when these are not known, and so the text may not be kept. */
  readonly redact: (sessionId: string, text: string) => string | null;
}): Readings {
  const { ledger, clock } = parts;
  const words = new Map<string, Map<string, LastWord>>();
  const signs = new Map<string, number>();

  function remember(sessionId: string, reading: Reading, weight: string): void {
    const { source, detail } = reading;
    const said = saidBy(reading);
    const bySource = words.get(sessionId) ?? new Map<string, LastWord>();
    words.set(sessionId, bySource.set(source, { source, detail, said, at: clock.now(), weight }));
  }

  function admit(sessionId: string, raw: Reading): Reading {
    const reading = clean(raw, (text) => parts.redact(sessionId, text));
    signs.set(sessionId, clock.monotonic());
    remember(sessionId, reading, "counted");
    return reading;
  }

  return {
    async take(session, raw, idempotency) {
      const reading = admit(session.id, raw);
      await ledger.apply(session.id, { type: "read", incarnation: session.incarnation, reading }, idempotency);
    },
    async takeLines(session, raw, cursor) {
      const readings = raw.map((reading) => admit(session.id, reading));
      const { incarnation } = session;
      await ledger.apply(session.id, { type: "read-transcript", incarnation, readings, cursor });
    },
    note(sessionId, raw, weight) {
      remember(
        sessionId,
        clean(raw, (text) => parts.redact(sessionId, text)),
        weight,
      );
    },
    lastSignAt: (sessionId) => signs.get(sessionId) ?? null,
    lastWords: (sessionId) => [...(words.get(sessionId)?.values() ?? [])],
    forget(sessionId) {
      words.delete(sessionId);
      signs.delete(sessionId);
    },
  };
}

function saidBy({ activity, turn, approval }: Reading): string | null {
  const words = [
    activity,
    turn === undefined ? undefined : `turn ${turn.phase}`,
    approval === undefined ? undefined : "requested" in approval ? "asks" : "asks no longer",
  ].filter((word) => word !== undefined);
  return words.length === 0 ? null : words.join(", ");
}

/** Longest text of a question or an error that is kept: enough to decide by, little enough for every list. */
const LONGEST_TEXT = 4_000;
/** Instead of what an agent said before it died unwatched. */
const WITHHELD = "(not kept: which secrets it may hold is not known)";

function clean(reading: Reading, redact: (text: string) => string | null): Reading {
  const short = (text: string): string => {
    const safe = redact(text) ?? WITHHELD;
    return safe.length <= LONGEST_TEXT ? safe : `${safe.slice(0, LONGEST_TEXT)}…`;
  };
  const { asks, turn, approval } = reading;
  return {
    ...reading,
    // In the adapter's words, so it may stay where the agent's own may not.
    detail: redact(reading.detail) === null ? reading.detail : short(reading.detail),
    ...(asks === undefined ? {} : { asks: short(asks) }),
    ...(turn === undefined ? {} : { turn: cleanTurn(turn, short) }),
    ...(approval !== undefined && "requested" in approval
      ? { approval: { requested: cleanApproval(approval.requested, short) } }
      : {}),
  };
}

function cleanTurn(turn: TurnReading, short: (text: string) => string): TurnReading {
  if (turn.phase === "failed") return { ...turn, error: short(turn.error) };
  if (turn.phase !== "started" || turn.prompt === undefined) return turn;
  return { ...turn, prompt: short(turn.prompt), print: promptPrint(turn.prompt) };
}

function cleanApproval(request: ApprovalRequest, short: (text: string) => string): ApprovalRequest {
  const orNull = (text: string | null): string | null => (text === null ? null : short(text));
  return {
    ...request,
    title: short(request.title),
    subject: orNull(request.subject),
    cwd: orNull(request.cwd),
    reason: orNull(request.reason),
  };
}
