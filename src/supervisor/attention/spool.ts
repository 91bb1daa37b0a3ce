/**
 * Reads what agents' hooks left in their sessions' spool directories. A
 * record is a JSON file that appeared by rename; it is deleted only after
 * what it said is committed, and a record read twice (a crash between the
 * two) counts once. What agents write is input: bounded, checked, never
 * followed through a link.
 *
 * Somebody waits for what a record says, so it is read without asking Node's
 * threads (turn-end bench): a spool is small and on the disk of the database,
 * whose commits the daemon waits for just so.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { mkdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { clearTheWay, clearTheWayForDirectory } from "../../platform/own-file.ts";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import { spoolDirOf } from "../../session/session-directory.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import { knownOf } from "./known.ts";
import type { Readings } from "./readings.ts";

const LARGEST_RECORD_BYTES = 1_048_576;

export interface Spool {
  /** Reads what is there and watches for more. */
  follow(session: Session): Promise<void>;
  /** Reads what is there once more and watches no longer. */
  leave(session: Session): Promise<void>;
  close(): Promise<void>;
}

export function createSpool(parts: {
  readonly store: Store;
  readonly readings: Readings;
  readonly agent: (name: string) => Agent;
  readonly clock: Clock;
  readonly log: Log;
}): Spool {
  const watchers = new Map<string, FSWatcher>();
  const draining = new Map<string, Promise<void>>();
  const isDirty = new Set<string>();

  /** One reader per session, so that records keep their order. */
  function drain(sessionId: string): Promise<void> {
    const current = draining.get(sessionId);
    if (current !== undefined) {
      isDirty.add(sessionId);
      return current;
    }
    const run = drainUntilClean(sessionId)
      .catch((error: unknown) => parts.log("a spool could not be read", { session: sessionId, why: messageOf(error) }))
      .finally(() => draining.delete(sessionId));
    draining.set(sessionId, run);
    return run;
  }

  async function drainUntilClean(sessionId: string): Promise<void> {
    do {
      isDirty.delete(sessionId);
      const session = parts.store.registry.get(sessionId);
      if (session === undefined) return;
      const directory = spoolDirOf(session.outputsDir);
      const names = namesIn(directory).filter(isRecordName).toSorted();
      for (const name of names) await consume(session, directory, name);
    } while (isDirty.has(sessionId));
  }

  async function consume(session: Session, directory: string, name: string): Promise<void> {
    const path = join(directory, name);
    const key = `spool:${session.id}:${name}`;
    if (parts.store.idempotency(key) === undefined) {
      const record = readRecord(path);
      const known = knownOf(parts.store.registry.get(session.id) ?? session);
      const reading = record === undefined ? null : parts.agent(session.agent).readHook(record, known);
      if (record === undefined) parts.log("a spool record cannot be read", { session: session.id, name });
      if (reading !== null) {
        const at = parts.clock.now();
        await parts.readings.take(session, reading, {
          key,
          operation: "spool",
          fingerprint: name,
          subject: session.id,
          at,
        });
      }
    }
    await remove(path);
  }

  /** What is no file cannot be unlinked; under another name it is no record. */
  async function remove(path: string): Promise<void> {
    if (clearTheWay(path) === null) await unlink(path);
  }

  return {
    async follow(session) {
      const directory = spoolDirOf(session.outputsDir);
      clearTheWayForDirectory(directory);
      await mkdir(directory, { recursive: true, mode: 0o700 });
      if (!watchers.has(session.id)) {
        const watcher = watch(directory, (_event, name) => {
          if (name === null || isRecordName(name)) void drain(session.id);
        });
        watcher.on("error", (error) =>
          parts.log("a spool can no longer be watched", { session: session.id, why: messageOf(error) }),
        );
        watcher.unref();
        watchers.set(session.id, watcher);
      }
      await drain(session.id);
    },
    async leave(session) {
      watchers.get(session.id)?.close();
      watchers.delete(session.id);
      await drain(session.id);
    },
    async close() {
      for (const watcher of watchers.values()) watcher.close();
      await Promise.all(draining.values());
    },
  };
}

/** Not what is still being written. */
function isRecordName(name: string): boolean {
  return name.endsWith(".json") && !name.startsWith(".");
}

/** An agent that never ran has no spool. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

/** The machine is short of something, or its disk does not answer: says nothing about the record. */
const PASSING = new Set(["EMFILE", "ENFILE", "ENOMEM", "EIO", "EINTR", "EAGAIN", "ETIMEDOUT", "ESTALE"]);

/** Undefined for anything that is not a plain, small, well-formed file. */
function readRecord(path: string): unknown {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    // Only what may pass is tried again; whatever else stands in its place is no record.
    if (PASSING.has(errnoOf(error) ?? "")) throw error;
    return undefined;
  }
  try {
    const about = fstatSync(file);
    if (!about.isFile() || about.size > LARGEST_RECORD_BYTES) return undefined;
    const parsed: unknown = JSON.parse(readFileSync(file, "utf8"));
    return parsed;
  } catch (error) {
    if (PASSING.has(errnoOf(error) ?? "")) throw error;
    return undefined;
  } finally {
    closeSync(file);
  }
}
