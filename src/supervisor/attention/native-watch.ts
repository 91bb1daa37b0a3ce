/**
 * Follows what an agent writes for capture into `native/` of its session: turns
 * it into lines of session_oai_raw.log, without secrets, and removes it. Files
 * that end in `.log` there are its own log (debug-log-copy.ts).
 *
 * What was read is removed, or blanked in an index that its agent has open, only
 * after its lines are in the log. If the daemon dies in between, the next one
 * reads it again; a line whose exchange, kind and number are in the log already
 * is not written a second time. What an agent writes is bounded when it is read,
 * and nothing is written while the session's secrets are not known.
 */
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { NativeLine, NativeReader, NativeTale } from "../../agent/native-capture.ts";
import { createRedaction } from "../../capture/redaction.ts";
import { openRawLog, RAW_LOG_NAME } from "../../capture/raw-log.ts";
import type { RawLine } from "../../capture/raw-line.ts";
import { createTagger } from "../../capture/secret-tag.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { parseFields } from "../../platform/json-fields.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { LineCursor } from "../../platform/line-cursor.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { FileWatch, SessionFiles } from "../../runtime/session-files.ts";
import { RAW_LOG_BYTES } from "../../session/persistence.ts";
import { nativeDirOf } from "../../session/session-directory.ts";
import type { Session } from "../../session/session.ts";
import { withFiles } from "../launch/user-file.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { copyDebugLog } from "./debug-log-copy.ts";
import type { Watcher } from "./watcher.ts";

/** Of one body: a request with pictures in it. */
const LARGEST_BODY_BYTES = 64 * 1_048_576;
/** A batch is in this much of the end of the log. */
const LOG_TAIL_BYTES = 16 * 1_048_576;
const MOST_BATCH_CHARACTERS = 4 * 1_048_576;
/** A burst of files is read once. */
const GATHER_MS = 50;
/** Until what is being written is whole, or what could not be written can be. */
const RETRY_MS = 250;
/** After so many tries a body that an index names is given up: it was told before, or never written. */
const MOST_TRIES = 20;

interface Followed {
  readonly watches: Map<string, FileWatch>;
  readonly cursors: Map<string, LineCursor>;
  /** Lines that are in the log already; null: not looked up yet. */
  told: Set<string> | null;
  tries: number;
  /** What it finds may have been told by the last daemon. */
  isFirst: boolean;
  isOutage: boolean;
}

export function createNativeWatch(parts: {
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  /** The values that must not be recorded; null where they are not known. */
  readonly secrets: (sessionId: string) => Promise<readonly string[] | null>;
  readonly tagKey: () => string;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** What is recorded of a session cannot be written (`why`), or can again (null). */
  readonly onKept: (sessionId: string, what: string, why: string | null) => void;
}): Watcher {
  const { scheduler } = parts;
  const followed = new Map<string, Followed>();
  const queue = createKeyedQueue();

  function readerOf({ identity, watch }: Session): NativeReader | null {
    const { persistence } = identity.launch;
    if (persistence === null || watch.capture === null) return null;
    if (persistence.capture === "native") return parts.agent(identity.agent).native ?? null;
    return persistence.debugLog === null ? null : LOGS_ONLY;
  }

  function drainSoon(session: Session, ms: number): void {
    scheduler.atMost(session.id, "native", ms, () => void drain(session, "go on"));
  }

  function drain(session: Session, then: "go on" | "leave"): Promise<void> {
    // Of one that has ended they are forgotten next.
    const atEnd = then === "leave" ? parts.secrets(session.id) : null;
    return queue.run(session.id, async () => {
      const state = followed.get(session.id);
      const reader = readerOf(session);
      if (state === undefined || reader === null) return;
      try {
        const isDone = await readAll(session, reader, state, () => atEnd ?? parts.secrets(session.id));
        if (then === "leave") await clear(session, state, isDone);
        else if (!isDone) drainSoon(session, RETRY_MS);
      } catch (error) {
        parts.log("captured traffic could not be read", { session: session.id, why: messageOf(error) });
      }
    });
  }

  /** False: something is left that must be read again. */
  async function readAll(
    session: Session,
    reader: NativeReader,
    state: Followed,
    secretsNow: () => Promise<readonly string[] | null>,
  ): Promise<boolean> {
    const { files } = parts.runtime(session.identity.runtime);
    const directory = nativeDirOf(session.identity.outputsDir);
    const all = await listed(session, files, directory, state);
    const names = all.filter((name) => !name.endsWith(".log"));
    const indexes = names.filter((name) => reader.isIndex(name));
    const secrets = all.length === 0 ? [] : await secretsNow();
    if (secrets === null) return false;
    const tell = teller(session, secrets, state);
    const debugLog = session.identity.launch.persistence?.debugLog ?? null;
    for (const name of debugLog === null ? [] : all.filter((one) => one.endsWith(".log"))) {
      const tag = createTagger(parts.tagKey());
      const next = await copyDebugLog(files, {
        from: join(directory, name),
        to: debugLog ?? "",
        cursor: state.cursors.get(name) ?? null,
        redact: createRedaction(secrets, { tag }).text,
      });
      if (next !== null) state.cursors.set(name, next);
    }
    let isDone = true;
    for (const name of names.filter((one) => !reader.isIndex(one)))
      await readBody(files, reader, { directory, name, tell });
    for (const index of indexes) isDone = (await readIndex(files, reader, { directory, index, tell, state })) && isDone;
    state.isFirst = false;
    return isDone && !state.isOutage;
  }

  /** Files in it and in its directories; those are watched too. */
  async function listed(
    session: Session,
    files: SessionFiles,
    directory: string,
    state: Followed,
  ): Promise<readonly string[]> {
    const entries = await files.list(directory);
    const names = entries.filter(({ isFile }) => isFile).map(({ name }) => name);
    for (const { name, isDirectory } of entries) {
      if (!isDirectory) continue;
      await watch(session, files, join(directory, name), state);
      const inside = await files.list(join(directory, name));
      names.push(...inside.filter(({ isFile }) => isFile).map((entry) => `${name}/${entry.name}`));
    }
    return names.toSorted();
  }

  async function watch(session: Session, files: SessionFiles, directory: string, state: Followed): Promise<void> {
    if (state.watches.has(directory)) return;
    const watching = await files.watch(directory, () => drainSoon(session, GATHER_MS));
    if (followed.get(session.id) === state) state.watches.set(directory, watching);
    else watching.close();
  }

  async function readBody(
    files: SessionFiles,
    reader: NativeReader,
    { directory, name, tell }: { readonly directory: string; readonly name: string; readonly tell: Teller },
  ): Promise<void> {
    const path = join(directory, name);
    const about = await files.stat(path);
    const content =
      about === null ? null : await files.read(path, { mostBytes: LARGEST_BODY_BYTES, refuseLinks: true });
    const tale = about === null || content === null ? null : reader.readBody(name, content, about.modifiedAt);
    if (tale === null || !(await tell(tale.lines))) return;
    await removeSpent(files, directory, tale);
  }

  async function readIndex(
    files: SessionFiles,
    reader: NativeReader,
    given: { readonly directory: string; readonly index: string; readonly tell: Teller; readonly state: Followed },
  ): Promise<boolean> {
    const { directory, index, tell, state } = given;
    const path = join(directory, index);
    const before = state.cursors.get(index) ?? null;
    const { lines, cursor, hasMore } = await files.readNewLines(path, before);
    if (cursor === null || cursor.offset === before?.offset) return true;
    const batch: NativeTale[] = [];
    for (const { text } of lines) {
      if (text.trim() === "") continue;
      const tale = await withFiles(
        files,
        (read) => reader.readLine(index, text, (name) => read(join(directory, name))),
        LARGEST_BODY_BYTES,
      );
      if (tale === null && !state.isFirst && (state.tries += 1) <= MOST_TRIES) return false;
      state.tries = 0;
      if (tale !== null) batch.push(tale);
      if (sizeOf(batch) < MOST_BATCH_CHARACTERS) continue;
      if (!(await told(batch))) return false;
    }
    if (!(await told(batch))) return false;
    const next = reader.quotes ? await files.blankUpTo(path, cursor) : cursor;
    if (next !== null) state.cursors.set(index, next);
    return !hasMore;

    async function told(tales: NativeTale[]): Promise<boolean> {
      if (!(await tell(tales.flatMap((tale) => tale.lines)))) return false;
      for (const tale of tales.splice(0)) await removeSpent(files, directory, tale);
      return true;
    }
  }

  async function removeSpent(files: SessionFiles, directory: string, { spent }: NativeTale): Promise<void> {
    failpoint("native.written");
    for (const name of spent) await files.remove(join(directory, name));
  }

  type Teller = (lines: readonly NativeLine[]) => Promise<boolean>;

  /** Answers true when the lines are in the log. */
  function teller(session: Session, secrets: readonly string[], state: Followed): Teller {
    const tag = createTagger(parts.tagKey());
    const redaction = createRedaction(secrets, { tag });
    const clean = (value: unknown): unknown => (typeof value === "string" ? redaction.text(value) : value);
    return async (lines) => {
      if (lines.length === 0) return true;
      const known = (state.told ??= await toldBefore(session));
      const fresh = lines.filter((line) => !known.has(nameOf(line.exchange, line.kind, line.fields["n"])));
      if (fresh.length === 0) return true;
      const rawLog = openRawLog({
        directory: session.identity.outputsDir,
        capBytes: RAW_LOG_BYTES,
        captured: "native",
        clock: parts.clock,
        told: { failed: (why) => noteOutage(session, state, why), resumed: () => undefined },
      });
      for (const { kind, exchange, at, fields } of fresh) {
        const time = at === null ? {} : { at: new Date(at).toISOString(), mono_ms: null };
        const told = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, clean(value)]));
        rawLog.write({ kind, exchange, captured: "native", ...time, ...told } as unknown as RawLine);
      }
      await rawLog.close();
      if (rawLog.outage !== null || rawLog.waiting > 0) return false;
      if (state.isOutage) parts.onKept(session.id, RAW_LOG_NAME, null);
      state.isOutage = false;
      for (const line of fresh) known.add(nameOf(line.exchange, line.kind, line.fields["n"]));
      return true;
    };
  }

  function noteOutage(session: Session, state: Followed, why: string): void {
    if (!state.isOutage) parts.onKept(session.id, RAW_LOG_NAME, why);
    state.isOutage = true;
  }

  /** What the last daemon wrote and could not remove is at the end of the log. */
  async function toldBefore({ identity }: Session): Promise<Set<string>> {
    const names = new Set<string>();
    const { files } = parts.runtime(identity.runtime);
    for (const name of [RAW_LOG_NAME, `${RAW_LOG_NAME}.1`]) {
      const path = join(identity.outputsDir, name);
      if ((await files.stat(path)) === null) continue;
      const { lines } = await files.readTail(path, { bytes: LOG_TAIL_BYTES, since: null });
      for (const line of lines) {
        const { exchange, kind, n } = parseFields(line) ?? {};
        if (typeof exchange === "string" && typeof kind === "string") names.add(nameOf(exchange, kind, n));
      }
    }
    return names;
  }

  /** Whatever is left belongs to no exchange that could still be told. */
  async function clear(session: Session, state: Followed, isDone: boolean): Promise<void> {
    stop(session.id, state);
    if (!isDone) parts.log("captured traffic was removed before it could be recorded", { session: session.id });
    await parts.runtime(session.identity.runtime).files.removeTree(nativeDirOf(session.identity.outputsDir));
  }

  function stop(sessionId: string, state: Followed): void {
    if (followed.get(sessionId) === state) followed.delete(sessionId);
    scheduler.cancel(sessionId, "native");
    for (const watching of state.watches.values()) watching.close();
    state.watches.clear();
  }

  function begin(session: Session): void {
    const state: Followed = {
      watches: new Map(),
      cursors: new Map(),
      told: null,
      tries: 0,
      isFirst: true,
      isOutage: false,
    };
    followed.set(session.id, state);
    const { files } = parts.runtime(session.identity.runtime);
    const directory = nativeDirOf(session.identity.outputsDir);
    void queue
      .run(session.id, async () => {
        await files.makeDirectory(directory);
        await watch(session, files, directory, state);
      })
      .catch((error: unknown) =>
        parts.log("captured traffic cannot be followed", { session: session.id, why: messageOf(error) }),
      )
      .then(() => drain(session, "go on"));
  }

  return {
    attend(session) {
      if (!followed.has(session.id) && readerOf(session) !== null) begin(session);
    },
    async leave(session) {
      if (readerOf(session) === null) return;
      if (!followed.has(session.id)) begin(session);
      await drain(session, "leave");
    },
    async close() {
      for (const [sessionId, state] of followed) stop(sessionId, state);
      await queue.idle();
    },
  };
}

/** A session that is captured otherwise, and has a debug log. */
const LOGS_ONLY: NativeReader = {
  isIndex: () => false,
  quotes: false,
  readLine: () => null,
  readBody: () => null,
};

function nameOf(exchange: string, kind: string, n: unknown): string {
  return `${exchange} ${kind} ${typeof n === "number" ? n : 0}`;
}

function sizeOf(tales: readonly NativeTale[]): number {
  const texts = tales.flatMap(({ lines }) => lines.map(({ fields }) => fields["body"]));
  return texts.reduce<number>((sum, text) => sum + (typeof text === "string" ? text.length : 0), 0);
}
