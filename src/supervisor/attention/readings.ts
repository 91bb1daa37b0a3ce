/**
 * Takes every reading of the agents' adapters: it removes secrets, remembers
 * the last reading of each source for `explain`, and passes the reading to the
 * ledger. Only the last readings of the newest incarnation are in memory; what
 * counts is in the record.
 */
import type { Clock } from "../../platform/clock.ts";
import { applyReading } from "../../session/apply-reading.ts";
import { isOldNews } from "../../session/apply-turn.ts";
import { type ApprovalRequest, type Concerns, LONGEST_TEXT } from "../../session/approval.ts";
import type { BackgroundReading } from "../../session/background.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import { lastSentence } from "../../session/notice.ts";
import { promptPrint } from "../../session/prompt-print.ts";
import type { LimitReading } from "../../session/limit.ts";
import type { ApprovalReading, Reading, SetupReading, TurnReading } from "../../session/reading.ts";
import type { Evidence, Session, TranscriptCursor } from "../../session/session.ts";
import { isSignOfLife } from "../../session/witness.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface LastWord {
  readonly source: Evidence["source"];
  readonly detail: string;
  readonly said: string | null;
  readonly at: number;
  /** What came of it: counted, or why not (yet). */
  readonly weight: string;
}

/** Of a session, which process is meant. */
export interface Incarnation {
  readonly id: string;
  readonly process: Pick<Session["process"], "incarnation">;
}

export interface Readings {
  /** Commits what the reading says about this incarnation of the session, with the name of the file it was in. */
  take(session: Incarnation, reading: Reading, record?: string): Promise<void>;
  /** What new lines of the transcript said, in one commit with how far it has been read. */
  takeLines(session: Incarnation, lines: TakenLines): Promise<void>;
  /** Remembered, but not (yet) counted, and why. */
  note(session: Incarnation, reading: Reading, weight: string): Promise<void>;
  /** Something moved: monotonic, for the stall watch. */
  lastSignAt(session: Incarnation): number | null;
  lastWords(session: Incarnation): readonly LastWord[];
  /** Resolves when this incarnation has spoken for the first time, or drawn something that a rule knows: it is up. */
  firstWord(session: Incarnation): Promise<void>;
  forget(sessionId: string): void;
}

export interface TakenLines {
  readonly readings: readonly Reading[];
  readonly cursor: TranscriptCursor;
  /** What the agent said in the last of them; empty where it was asked something since, null where nothing is new. */
  readonly said: string | null;
}

/** Without the session's secrets; null when these are not known, and so the text may not be kept. */
export type Redactor = (text: string) => string | null;

interface Heard {
  readonly incarnation: number;
  readonly words: Map<string, LastWord>;
  readonly spoken: PromiseWithResolvers<void>;
  signAt: number | null;
}

/** A transcript is there before its process, and Reeve's own conclusions are nobody's word. */
const NOT_SPOKEN: ReadonlySet<LastWord["source"]> = new Set(["transcript", "supervisor"]);

export function createReadings(parts: {
  readonly ledger: Ledger;
  readonly clock: Clock;
  /** What takes the session's secrets out of a text; its process may have to be asked for them first. */
  readonly redactor: (sessionId: string) => Promise<Redactor>;
  /** Told what was said of limits, once it is committed. */
  readonly onLimits?: (sessionId: string, reading: Reading) => void;
}): Readings {
  const { ledger, clock } = parts;
  /** One after another: what one of them has to wait for must not let the next overtake it. */
  const queue = createKeyedQueue();
  const heard = new Map<string, Heard>();

  /** What is remembered of this incarnation; null for one that another has followed. */
  function heardOf({ id, process: { incarnation } }: Incarnation): Heard | null {
    const known = heard.get(id);
    if (known?.incarnation === incarnation) return known;
    if (known !== undefined && known.incarnation > incarnation) return null;
    const fresh: Heard = { incarnation, words: new Map(), spoken: Promise.withResolvers(), signAt: null };
    heard.set(id, fresh);
    return fresh;
  }

  function remember(session: Incarnation, reading: Reading, weight: string): void {
    const { source, detail } = reading;
    const word = { source, detail, said: saidBy(reading), at: clock.now(), weight };
    heardOf(session)?.words.set(source, word);
  }

  /** Told only after what was said is committed. A screen that no rule knows may show the error it dies of. */
  function spoke(session: Incarnation, { source, activity }: Reading): void {
    if (!NOT_SPOKEN.has(source) && activity !== "unknown") heardOf(session)?.spoken.resolve();
  }

  function admit(session: Incarnation, raw: Reading, redact: Redactor): Reading {
    const reading = clean(raw, redact);
    const known = heardOf(session);
    if (known !== null && isSignOfLife(reading.source)) known.signAt = clock.monotonic();
    return reading;
  }

  /** Commits what they say, and remembers what came of each. */
  async function settle(session: Incarnation, readings: readonly Reading[], commit: CommitReadings): Promise<void> {
    let weights: readonly string[] = [];
    await commit((before) => (weights = weightsOf(before, session, readings, clock.now())));
    readings.forEach((reading, index) => remember(session, reading, weights[index] ?? "counted"));
  }

  function tellLimits({ id }: Incarnation, reading: Reading): void {
    if (reading.limits !== undefined) parts.onLimits?.(id, reading);
  }

  return {
    take: (session, raw, record) =>
      queue.run(session.id, async () => {
        const reading = admit(session, raw, await parts.redactor(session.id));
        const { incarnation } = session.process;
        const input = { type: "read", incarnation, reading, ...(record === undefined ? {} : { record }) } as const;
        await settle(session, [reading], (onto) => ledger.apply(session.id, input, { onto }));
        tellLimits(session, reading);
        spoke(session, reading);
      }),
    takeLines: (session, { readings: raw, cursor, said: text }) =>
      queue.run(session.id, async () => {
        const redact = await parts.redactor(session.id);
        const readings = raw.map((reading) => admit(session, reading, redact));
        const { incarnation } = session.process;
        const words = text === null ? {} : { said: lastSentence(stripTerminal(redact(text) ?? "")) };
        await settle(session, readings, (onto) =>
          ledger.apply(session.id, { type: "read-transcript", incarnation, readings, cursor, ...words }, { onto }),
        );
        for (const reading of readings) tellLimits(session, reading);
      }),
    note: (session, raw, weight) =>
      queue.run(session.id, async () => {
        remember(session, clean(raw, await parts.redactor(session.id)), weight);
        spoke(session, raw);
      }),
    lastSignAt: (session) => heardOf(session)?.signAt ?? null,
    lastWords: (session) => [...(heardOf(session)?.words.values() ?? [])],
    // One that another has followed will not speak again: whoever waits is told by its end.
    firstWord: (session) => heardOf(session)?.spoken.promise ?? new Promise(() => undefined),
    forget: (sessionId) => void heard.delete(sessionId),
  };
}

/** Calls `onto` with the session as it is when the readings are applied to it. */
type CommitReadings = (onto: (before: Session) => void) => Promise<unknown>;

/** What comes of each, as things stand when it is its turn. */
function weightsOf(
  before: Session,
  { process: { incarnation } }: Incarnation,
  readings: readonly Reading[],
  now: number,
): readonly string[] {
  if (before.process.incarnation !== incarnation) return readings.map(() => "ignored: it is about an earlier process");
  let session = before;
  return readings.map((reading, index) => {
    const weight = weightOf(session, reading);
    // Only a turn changes which turn is old, for those that follow.
    if (reading.turn !== undefined && index < readings.length - 1)
      session = applyReading(session, reading, { now, random: 0 }).session;
    return weight;
  });
}

function weightOf(session: Session, { activity, turn }: Reading): string {
  if (turn !== undefined)
    return isOldNews(session, turn) ? "ignored: it is about an earlier turn, or was reported already" : "counted";
  return activity !== undefined && session.process.exit !== null ? "ignored: its process has ended" : "counted";
}

function saidBy({ activity, turn, approval, limits = [] }: Reading): string | null {
  const words = [
    activity,
    turn === undefined ? undefined : `turn ${turn.phase}`,
    approval === undefined ? undefined : "requested" in approval ? "asks" : "asks no longer",
    limits.some(({ status }) => status === "rejected") ? "limit reached" : undefined,
  ].filter((word) => word !== undefined);
  return words.length === 0 ? null : words.join(", ");
}

/** Of a limit: models have long names, but not this long. */
const LONGEST_NAME = 100;
/** Instead of what an agent said before it died unwatched. */
const WITHHELD = "(not kept: Reeve does not know which secrets it may contain)";

function clean(reading: Reading, redact: Redactor): Reading {
  const cut = (text: string): string => (text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}…`);
  const short = (text: string): string => cut(redact(text) ?? WITHHELD);
  const detail = redact(reading.detail);
  const { asks, turn, approval, background, limits, setup } = reading;
  return {
    ...reading,
    // In the adapter's words, so it may stay where the agent's own may not.
    detail: detail === null ? reading.detail : cut(detail),
    ...(asks === undefined ? {} : { asks: short(asks) }),
    ...(turn === undefined ? {} : { turn: cleanTurn(turn, short) }),
    ...(approval !== undefined && "requested" in approval ? { approval: cleanRequest(approval, short) } : {}),
    ...(background === undefined ? {} : { background: cleanBackground(background, short) }),
    ...(limits === undefined ? {} : { limits: limits.map((limit) => cleanLimit(limit, redact, short)) }),
    ...(setup === undefined ? {} : { setup: cleanSetup(setup, redact) }),
  };
}

/** A name tells two limits apart, so it stays one where the secrets are not known. */
function cleanLimit(limit: LimitReading, redact: Redactor, short: (text: string) => string): LimitReading {
  const name = redact(limit.limit) ?? limit.limit;
  return { ...limit, limit: name.slice(0, LONGEST_NAME), text: short(limit.text) };
}

/** Names, by which a change is told, so they stay where the secrets are not known. */
function cleanSetup({ model, mode, ...rest }: SetupReading, redact: Redactor): SetupReading {
  const name = (text: string): string => (redact(text) ?? text).slice(0, LONGEST_NAME);
  return {
    ...rest,
    ...(model === undefined ? {} : { model: name(model) }),
    ...(mode === undefined ? {} : { mode: name(mode) }),
  };
}

function cleanBackground(background: BackgroundReading, short: (text: string) => string): BackgroundReading {
  if ("started" in background) return { started: { ...background.started, title: short(background.started.title) } };
  if (!("running" in background)) return background;
  return { running: background.running.map((task) => ({ ...task, title: short(task.title) })) };
}

function cleanTurn(turn: TurnReading, short: (text: string) => string): TurnReading {
  if (turn.phase === "failed") return { ...turn, error: short(turn.error) };
  if (turn.phase !== "started" || turn.prompt === undefined) return turn;
  return { ...turn, prompt: short(turn.prompt), print: promptPrint(turn.prompt) };
}

function cleanRequest(
  { requested, choices, concerns }: Extract<ApprovalReading, { readonly requested: ApprovalRequest }>,
  short: (text: string) => string,
): ApprovalReading {
  return {
    requested: cleanApproval(requested, short),
    ...(choices === undefined ? {} : { choices: { approved: short(choices.approved), denied: short(choices.denied) } }),
    ...(concerns === undefined ? {} : { concerns: cleanConcerns(concerns, short) }),
  };
}

function cleanConcerns({ tool, paths }: Concerns, short: (text: string) => string): Concerns {
  return { tool: tool === null ? null : short(tool), paths: paths.map(short) };
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
