/**
 * Writes the event log of a session down in its directory, as session.log and
 * session_meta.log (docs/spec/session-directory.md). Both are projections: how
 * far each goes is in its last whole line, so each event is in it once,
 * whatever kills the daemon where. They are written behind what happens, some
 * lines at a time, and nothing waits for them.
 *
 * What was committed while this daemon watched is in memory until it is
 * written, with the monotonic time; the rest is read from the event log.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type LineLog, openLineLog, RemovedLog } from "../../capture/line-log.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { META_LOG, SESSION_LOG } from "../../session/session-directory.ts";
import { isEnded, type Session } from "../../session/session.ts";
import type { LoggedEvent } from "../../session/event.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { type Asked, META_TYPES, type MetaState, metaLine, stateAfter, stateOfLine } from "./meta-line.ts";
import { cleaned, head, type Heard, sessionLine } from "./session-line.ts";
import { type Warnings, whyNot } from "./warnings.ts";

/** One write for a burst, soon enough to follow with tail -f. */
const FLUSH_MS = 100;
/** While it cannot be written. */
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** More than this is read from the event log again instead of being kept in memory. */
const MOST_PENDING = 1_000;
const PAGE = 500;
const MOST_TIMES = 4_096;
/** Years of events of one session; another file of this size is kept beside it. */
const MOST_BYTES = 16_777_216;

export interface Projection {
  /** A line of the daemon's log that is about this session. */
  hear(sessionId: string, message: string, fields: object): void;
  /** Writes what is not written yet of all sessions, a few at a time. */
  start(): void;
  /** It is removed: nothing more is written once this resolves. */
  retire(sessionId: string): Promise<void>;
  close(): Promise<void>;
}

interface Kept {
  pending: Heard[];
  /** There are events that are not in `pending`. */
  isBehind: boolean;
  failures: number;
  /** Lines of the daemon's log that are lost. */
  missing: number;
  lastSeq: number;
  readonly session: File;
  readonly meta: File & { state: MetaState };
}

interface File {
  readonly name: string;
  readonly log: LineLog;
  /** The number of its last event; null: to be read from the file. */
  through: number | null;
}

export function createProjection(parts: {
  readonly store: Pick<Store, "log" | "registry">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly warnings: Warnings;
  /** Takes the secrets of a session out of a text. */
  readonly redactor: (session: Session) => Promise<(text: string) => string>;
  readonly mostBytes?: number;
}): Projection {
  const { store, clock, scheduler, warnings, mostBytes = MOST_BYTES } = parts;
  const kept = new Map<string, Kept>();
  const retired = new Set<string>();
  /** When events were committed, of the newest: also of a session that is not in the registry yet. */
  const times = new Map<number, number>();
  const queue = createKeyedQueue();
  let isOpen = false;

  function keptOf(sessionId: string): Kept | null {
    const known = kept.get(sessionId);
    if (known !== undefined) return known;
    const session = store.registry.get(sessionId);
    if (session === undefined || session.identity.launch.persistence === null || retired.has(sessionId)) return null;
    const file = (name: string): File => ({
      name,
      log: openLineLog(join(session.identity.outputsDir, name), mostBytes),
      through: null,
    });
    const fresh: Kept = {
      pending: [],
      isBehind: true,
      failures: 0,
      missing: 0,
      lastSeq: 0,
      session: file(SESSION_LOG),
      meta: { ...file(META_LOG), state: { turn: null } },
    };
    kept.set(sessionId, fresh);
    return fresh;
  }

  function add(one: Kept, heard: Heard): void {
    if (one.pending.length < MOST_PENDING) return void one.pending.push(heard);
    one.missing += one.pending.filter(({ event }) => event === null).length + (heard.event === null ? 1 : 0);
    one.pending = [];
    one.isBehind = true;
  }

  function isNew({ sessionId }: LoggedEvent): boolean {
    return sessionId !== null && store.registry.get(sessionId) === undefined;
  }

  function remember(seq: number, upMs: number): void {
    times.set(seq, upMs);
    const [oldest] = times.keys();
    if (times.size > MOST_TIMES && oldest !== undefined) times.delete(oldest);
  }

  const unfollow = store.log.follow((events) => {
    const { upMs } = clock.moment();
    for (const event of events) {
      const one = event.sessionId === null ? null : keptOf(event.sessionId);
      if (one !== null || isNew(event)) remember(event.seq, upMs);
      if (one === null || event.sessionId === null) continue;
      one.lastSeq = event.seq;
      add(one, { event, monoMs: upMs });
      flushSoon(event.sessionId, one);
    }
  });

  function flushSoon(sessionId: string, { failures }: Kept): void {
    // While it fails, the next attempt is planned already.
    if (isOpen && failures === 0) scheduler.atMost(sessionId, "keep-log", FLUSH_MS, () => void flush(sessionId));
  }

  function flush(sessionId: string): Promise<void> {
    return queue.run(sessionId, () => write(sessionId)).catch(() => undefined);
  }

  async function write(sessionId: string): Promise<void> {
    const session = store.registry.get(sessionId);
    const one = session === undefined ? null : keptOf(sessionId);
    if (session === undefined || one === null) return;
    const { outputsDir } = session.identity;
    // Whoever removed the directory of one that is over wanted that.
    if (isEnded(session) && !existsSync(outputsDir)) return void kept.delete(sessionId);
    for (const file of [one.session, one.meta]) if (file.log.isRemoved()) await begin(session, file);
    const { pending, isBehind } = one;
    one.pending = [];
    one.isBehind = false;
    const redact = await parts.redactor(session);
    const lines = { session, one, redact };
    failpoint("keep.before-write");
    const hasLog = await attempt(session, one.session, () => writeSessionLog(lines, pending, isBehind));
    if (!hasLog) one.missing += pending.filter(({ event }) => event === null).length;
    failpoint("keep.between-files");
    const hasMeta = await attempt(session, one.meta, () => writeMetaLog(lines, pending, isBehind));
    if (!hasLog || !hasMeta) {
      one.isBehind = true;
      one.failures += 1;
      const ms = Math.min(RETRY_MS * 2 ** (one.failures - 1), LONGEST_RETRY_MS);
      scheduler.after(sessionId, "keep-log", ms, () => void flush(sessionId));
      return;
    }
    failpoint("keep.after-write");
    one.failures = 0;
    await warnings.worked(sessionId, "its directory");
    await warnings.worked(sessionId, META_LOG);
    await warnings.worked(sessionId, SESSION_LOG, one.missing);
    one.missing = 0;
    if (one.pending.length > 0) flushSoon(sessionId, one);
    else if (isEnded(session)) kept.delete(sessionId);
  }

  /** Again, from the start: somebody removed it. */
  async function begin({ id, identity: { outputsDir } }: Session, file: File): Promise<void> {
    file.through = null;
    await warnings.failed(
      id,
      "its directory",
      `Files in ${outputsDir} were removed while the session runs. Reeve writes its logs again from the start; what else was removed is lost.`,
    );
  }

  async function attempt(session: Session, file: File, work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      file.through = null;
      // Between the look at it and the write.
      if (error instanceof RemovedLog) await begin(session, file);
      else await warnings.failed(session.id, file.name, whyNot(error));
      return false;
    }
  }

  interface Lines {
    readonly session: Session;
    readonly one: Kept;
    readonly redact: (text: string) => string;
  }

  async function writeSessionLog({ session, one, redact }: Lines, pending: readonly Heard[], isBehind: boolean) {
    const file = one.session;
    let through = file.through ?? (await file.log.resume())?.seq ?? 0;
    const put = async (batch: readonly Heard[]): Promise<void> => {
      const lines = batch
        .filter(({ event }) => event === null || event.seq > through)
        .map((heard) => {
          through = heard.event?.seq ?? through;
          return JSON.stringify(cleaned(sessionLine(heard, through), redact));
        });
      await file.log.append(lines);
      file.through = through;
    };
    if (isBehind || file.through === null) for await (const page of missed(session.id, through)) await put(page);
    await put(pending);
  }

  async function writeMetaLog({ session, one, redact }: Lines, pending: readonly Heard[], isBehind: boolean) {
    const file = one.meta;
    const isUnknown = file.through === null;
    if (file.through === null) {
      const last = await file.log.resume();
      file.state = stateOfLine(last);
      file.through = last?.seq ?? 0;
    }
    const put = async (batch: readonly Heard[]): Promise<void> => {
      let { state, through } = file;
      const lines: string[] = [];
      for (const { event, monoMs } of batch) {
        if (event === null || event.seq <= (through ?? 0)) continue;
        const line = await metaLine(event, state, { before: (types, fits) => before(event, types, fits) });
        state = stateAfter(state, event);
        through = event.seq;
        if (line !== null)
          lines.push(JSON.stringify(cleaned({ ...head(event.seq, event.at, monoMs), ...line }, redact)));
      }
      await file.log.append(lines);
      file.state = state;
      file.through = through;
    };
    if (isBehind || isUnknown) for await (const page of missed(session.id, file.through, META_TYPES)) await put(page);
    await put(pending);
  }

  /** Not the newest of all: a daemon that completes the log is already further. */
  function before(
    { seq, sessionId }: LoggedEvent,
    types: readonly Asked[],
    fits: (body: LoggedEvent["body"]) => boolean,
  ) {
    return store.log.latest({ sessionId: sessionId ?? "", types, fits, before: seq });
  }

  /** What the event log has after this one, some at a time. */
  async function* missed(
    sessionId: string,
    after: number,
    types?: typeof META_TYPES,
  ): AsyncGenerator<readonly Heard[]> {
    for (let from = after; ;) {
      const filter = types === undefined ? {} : { types };
      const events = await store.log.read({ after: from, limit: PAGE, sessionIds: [sessionId], ...filter });
      if (events.length > 0) yield events.map((event) => ({ event, monoMs: times.get(event.seq) ?? null }));
      if (events.length < PAGE) return;
      from = events.at(-1)?.seq ?? from;
    }
  }

  async function catchUp(): Promise<void> {
    for (const { id, identity } of store.registry.all()) {
      if (identity.launch.persistence === null) continue;
      keptOf(id);
      await flush(id);
    }
  }

  return {
    hear(sessionId, message, fields) {
      const one = keptOf(sessionId);
      if (one === null) return;
      add(one, { event: null, at: clock.now(), monoMs: clock.moment().upMs, message, fields });
      flushSoon(sessionId, one);
    },
    start() {
      isOpen = true;
      void catchUp();
    },
    async retire(sessionId) {
      retired.add(sessionId);
      scheduler.cancel(sessionId, "keep-log");
      await queue.run(sessionId, async () => undefined);
      kept.delete(sessionId);
      warnings.forget(sessionId);
    },
    async close() {
      unfollow();
      isOpen = false;
      await Promise.all([...kept.keys()].map(flush));
      await queue.idle();
    },
  };
}
