/**
 * Follows the transcripts of living sessions: notices when the file appears,
 * reads each new line once (the cursor is committed with what the lines said),
 * and notices when it is lost. It uses inotify, and also looks by itself now
 * and then, in case inotify reports nothing.
 */
import type { Agent } from "../../agent/contract.ts";
import type { Clock } from "../../platform/clock.ts";
import type { LineCursor, NewLine } from "../../platform/line-cursor.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { FileChange, FileState, SessionFiles } from "../../runtime/session-files.ts";
import { applyReading } from "../../session/apply-reading.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { knownOf } from "./known.ts";
import type { Readings } from "./readings.ts";
import type { Watcher } from "./watcher.ts";

/** Until it is there: orchestrators ask within a second. */
const AWAITING_MS = 200;
/** Once it is there inotify tells; this is for what inotify misses. */
const SAFETY_MS = 10_000;
/** Small steps keep the daemon small: a transcript of 1 GB adds 16 MB instead of 150 (transcript-parse bench). */
const LIMITS = { mostBytes: 131_072 };
/** What an agent writes of a turn's end is there within so long, if it is written to this file at all. */
const SILENT_MS = 2_000;
/** Whoever puts another file in its place may take so long to fill it: what comes then need not be from the agent. */
const FILLING_MS = 1_000;
/** Looks at a missing file before it counts as lost: a rotation takes a moment. */
const MISSES = 3;

interface Followed {
  readonly path: string;
  readonly files: SessionFiles;
  cursor: LineCursor | null;
  /** Of one file: another that takes its name needs another. */
  watcher: { readonly identity: string; readonly close: () => void } | null;
  misses: number;
  /** Of the file when it was last read. */
  stamp: string | null;
  reading: Promise<void> | null;
  isDirty: boolean;
  /** Why the last reading failed; logged once, not at every look. */
  trouble: string | null;
  /** Inotify says that something was written: worth reading before looking at the file itself. */
  hasGrown: boolean;
  /**
   * Another file took the name of the one that was read, and nothing has been
   * written to it yet: perhaps the agent still writes to the old one. `seenAt`,
   * `endedAt` (monotonic): when that was seen, and when a turn was first seen to
   * have ended since.
   */
  replaced: { stamp: string; readonly turnsBefore: number; readonly seenAt: number; endedAt: number | null } | null;
  /** What was said last in what has been read on the way to the end; null where nothing was. */
  said: string | null;
  /** On the way to the end of a file that replaced another. */
  isOld: boolean;
  isStopped: boolean;
}

export function createTranscriptWatch(parts: {
  readonly store: Store;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  readonly readings: Readings;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
}): Watcher {
  const followed = new Map<string, Followed>();

  /** One reader per transcript; what happens meanwhile causes one more round. */
  function read(sessionId: string, entry: Followed): Promise<void> {
    if (entry.reading !== null) {
      entry.isDirty = true;
      return entry.reading;
    }
    entry.reading = readUntilClean(sessionId, entry)
      .then(() => {
        entry.trouble = null;
      })
      .catch((error: unknown) => {
        entry.stamp = null; // what was not read, or not committed, is read again
        const why = messageOf(error);
        if (why !== entry.trouble) parts.log("a transcript could not be read", { session: sessionId, why });
        entry.trouble = why;
      })
      .finally(() => {
        entry.reading = null;
        schedule(sessionId, entry);
      });
    return entry.reading;
  }

  async function readUntilClean(sessionId: string, entry: Followed): Promise<void> {
    do {
      entry.isDirty = false;
      const { hasGrown } = entry;
      entry.hasGrown = false;
      if (hasGrown) await readToEnd(sessionId, entry);
      const session = parts.store.registry.get(sessionId);
      if (session === undefined) return;
      const stamp = await stampOf(session, entry);
      if (stamp === null || (stamp === entry.stamp && !entry.isDirty)) return;
      entry.stamp = stamp;
      if (!hasGrown || !isAtEnd(entry.cursor, stamp)) await readToEnd(sessionId, entry);
    } while (entry.isDirty);
  }

  async function readToEnd(sessionId: string, entry: Followed): Promise<void> {
    while (await readOnce(sessionId, entry)) {
      // more is there already
    }
  }

  async function readOnce(sessionId: string, entry: Followed): Promise<boolean> {
    const { lines, cursor, wasReplaced, hasMore, skippedLines } = await entry.files.readNewLines(
      entry.path,
      entry.cursor,
      LIMITS,
    );
    const session = parts.store.registry.get(sessionId);
    if (session === undefined) return false;
    if (skippedLines > 0)
      parts.log("lines of a transcript were too long to read", { session: sessionId, skippedLines });
    // What a replaced file holds has been told before, by the one it replaced.
    if (wasReplaced) parts.log("a transcript was replaced; reading on from its end", { session: sessionId });
    const isOld = wasReplaced || entry.isOld;
    entry.isOld = isOld && hasMore;
    if (isOld) entry.replaced = await replacedBy(session, entry, parts.clock.monotonic());
    const readings = isOld ? [] : readLines(parts.agent(session.identity.agent), session, lines);
    // More than is read at once may follow the agent's last words: there are agents that write down the whole prompt then.
    entry.said = isOld ? null : (saidIn(parts.agent(session.identity.agent), lines) ?? entry.said);
    const said = hasMore ? null : entry.said;
    if (cursor !== null && (readings.length > 0 || said !== null || isOld))
      await parts.readings.takeLines(session, { readings, cursor, said });
    entry.cursor = cursor;
    if (!hasMore) entry.said = null;
    return hasMore;
  }

  /** Changes with the file; null while it is not there. Throws when that cannot be told. */
  async function stampOf(session: Session, entry: Followed): Promise<string | null> {
    const { watch } = session;
    const about = await entry.files.stat(entry.path);
    const stamp = about === null ? "" : stampOfState(about);
    if (about?.isFile === true && about.size > 0) {
      entry.misses = 0;
      if (isSilent(session, entry, stamp)) {
        const detail = `${entry.path} did not grow although a turn has ended: the agent writes to another file`;
        if (watch.observability.status === "observable")
          await parts.readings.take(session, { source: "transcript", detail, transcript: "lost" });
        return stamp;
      }
      if (watch.observability.status !== "observable") {
        const detail = `${entry.path} is there`;
        await parts.readings.take(session, { source: "transcript", detail, transcript: "observable" });
      }
      await listen(session.id, entry, about.identity);
      return stamp;
    }
    entry.watcher?.close();
    entry.watcher = null;
    const isOverdue =
      watch.observability.status === "observable" ||
      (watch.observability.status === "pending" && hasCompleted(session));
    if (isOverdue && ++entry.misses >= MISSES) {
      const detail =
        watch.observability.status === "observable"
          ? `${entry.path} was there and is gone`
          : `a turn is complete, and there is still no ${entry.path}`;
      await parts.readings.take(session, { source: "transcript", detail, transcript: "lost" });
    }
    return null;
  }

  /** A turn has ended since it took the other's place, and it is still as it was then. */
  function isSilent(session: Session, entry: Followed, stamp: string): boolean {
    const { replaced } = entry;
    if (replaced === null) return false;
    const now = parts.clock.monotonic();
    const hasTurnEnded = !session.conversation.turnOpen && session.conversation.turns > replaced.turnsBefore;
    if (replaced.stamp !== stamp) {
      if (hasTurnEnded || now - replaced.seenAt >= FILLING_MS) entry.replaced = null;
      else replaced.stamp = stamp;
      return false;
    }
    if (!hasTurnEnded) return false;
    replaced.endedAt ??= now;
    return now - replaced.endedAt >= SILENT_MS;
  }

  async function listen(sessionId: string, entry: Followed, identity: string): Promise<void> {
    if (entry.watcher?.identity === identity || entry.isStopped) return;
    entry.watcher?.close();
    entry.watcher = null;
    let isClosed = false;
    const heard = (change: FileChange): void => {
      if (isClosed) return;
      if (change.type === "lost") return listening?.close();
      if (change.written) entry.hasGrown = true;
      void read(sessionId, entry);
    };
    const watch = await entry.files.watch(entry.path, heard).catch(() => null);
    if (watch === null) return; // the slow look goes on
    const listening = {
      identity,
      close(): void {
        isClosed = true;
        watch.close();
        if (entry.watcher === listening) entry.watcher = null;
      },
    };
    entry.watcher = listening;
    if (isStopped(entry)) return listening.close();
    // Between the look and the watch something may have been written.
    entry.isDirty = true;
  }

  function schedule(sessionId: string, entry: Followed): void {
    if (entry.isStopped) return;
    const isDoubted = entry.replaced !== null && entry.replaced.endedAt !== null;
    const isAwaited = entry.watcher === null || entry.trouble !== null;
    const delay = isAwaited ? AWAITING_MS : isDoubted ? SILENT_MS : SAFETY_MS;
    parts.scheduler.after(sessionId, "transcript", delay, () => void read(sessionId, entry));
  }

  function stop(sessionId: string): Followed | undefined {
    const entry = followed.get(sessionId);
    if (entry === undefined) return undefined;
    followed.delete(sessionId);
    entry.isStopped = true;
    entry.watcher?.close();
    parts.scheduler.cancel(sessionId, "transcript");
    return entry;
  }

  return {
    attend(session) {
      const path = session.watch.observability.transcriptPath;
      const known = followed.get(session.id);
      if (known?.replaced?.endedAt === null && !session.conversation.turnOpen) void read(session.id, known);
      if (path === null || known?.path === path) return;
      stop(session.id);
      const entry: Followed = {
        path,
        files: parts.runtime(session.identity.runtime).files,
        cursor: session.watch.transcriptCursor,
        watcher: null,
        misses: 0,
        stamp: null,
        reading: null,
        isDirty: false,
        trouble: null,
        hasGrown: false,
        replaced: null,
        said: null,
        isOld: false,
        isStopped: false,
      };
      followed.set(session.id, entry);
      void read(session.id, entry);
    },
    /** The last lines count, also those written between the last look and the end. */
    async leave(session) {
      const entry = stop(session.id);
      if (entry === undefined) return;
      await entry.reading;
      await read(session.id, entry);
    },
    async close() {
      await Promise.all([...followed.keys()].map(async (sessionId) => stop(sessionId)?.reading));
    },
  };
}

async function replacedBy(
  { conversation: { turns, turnOpen } }: Session,
  { path, files }: Followed,
  seenAt: number,
): Promise<Followed["replaced"]> {
  const about = await files.stat(path);
  return about === null
    ? null
    : { stamp: stampOfState(about), turnsBefore: turnOpen ? turns - 1 : turns, seenAt, endedAt: null };
}

function stampOfState({ identity, size, modifiedAt }: FileState): string {
  return `${identity} ${size} ${modifiedAt}`;
}

/** In this process: the one before it may have had another conversation, with a transcript of its own. */
function hasCompleted({ process, conversation: { lastTurn } }: Session): boolean {
  return lastTurn?.verdict === "completed" && (lastTurn.startedAt ?? Infinity) >= (process.startedAt ?? 0);
}

/** Asked again after an await, during which that may have changed. */
function isStopped(entry: Followed): boolean {
  return entry.isStopped;
}

/** Each line is read knowing what the ones before it said. */
function readLines(agent: Agent, session: Session, lines: readonly NewLine[]): readonly Reading[] {
  const readings: Reading[] = [];
  let assumed = session;
  for (const [index, { text }] of lines.entries()) {
    const reading = agent.readLine(text, knownOf(assumed));
    if (reading === null) continue;
    readings.push(reading);
    if (index === lines.length - 1) break;
    assumed = applyReading(assumed, reading, { now: session.conversation.activity.evidence.at, random: 0 }).session;
  }
  return readings;
}

/** What an agent says last is in one of the last lines it writes; what it is in is read a second time, so not far back. */
const LAST_LINES = 12;
const LONGEST_LINE = 65_536;
/** Its last sentence is at the end of it. */
const LAST_WORDS = 4_096;

/** The end of what the agent said last in these lines; empty where it was asked something since, null where neither is there. */
function saidIn(agent: Agent, lines: readonly NewLine[]): string | null {
  const last = lines.slice(-LAST_LINES).filter(({ text }) => text.length <= LONGEST_LINE);
  const messages = last.length === 0 ? [] : agent.readMessages(last.map(({ text }) => text));
  const said = messages.findLast(({ role, text }) => role === "user" || (role === "assistant" && text.trim() !== ""));
  if (said === undefined) return null;
  return said.role === "assistant" ? said.text.slice(-LAST_WORDS) : "";
}

/** All that the stamp's file had has just been read. */
function isAtEnd(cursor: LineCursor | null, stamp: string): boolean {
  return cursor !== null && stamp.startsWith(`${cursor.identity.split(":", 1)[0]} ${cursor.offset} `);
}
