/**
 * Reads what agents' hooks left in their sessions' spool directories. A record
 * is a JSON file that appeared by rename; it is deleted only after what it said
 * is committed, and a record read twice (a crash between the two) counts once.
 * Agents write these files, so Reeve bounds and checks what it reads and never
 * follows a link.
 */
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { FileChange, FileWatch, SessionFiles } from "../../runtime/session-files.ts";
import { spoolDirOf } from "../../session/session-directory.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { knownOf } from "./known.ts";
import type { Readings } from "./readings.ts";
import { createTrials } from "./trials.ts";

const LARGEST_RECORD_BYTES = 1_048_576;
const SPOOL = "spool";

export interface Spool {
  /** Reads what is there and watches for more. */
  follow(session: Session): Promise<void>;
  /** Reads what is there once more and watches no longer. */
  leave(session: Session): Promise<void>;
  close(): Promise<void>;
}

interface FoundRecord {
  readonly directory: string;
  readonly name: string;
  readonly record: unknown;
}

export function createSpool(parts: {
  readonly store: Store;
  readonly readings: Readings;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}): Spool {
  const watchers = new Map<string, Promise<FileWatch>>();
  const draining = new Map<string, Promise<void>>();
  /** Something may be there that was left, or has come meanwhile. */
  const isDirty = new Set<string>();
  const trials = createTrials(parts.scheduler);

  /** One reader per session, so that records keep their order. `told`: the record that the watcher named. */
  function drain(sessionId: string, told: string | null = null): Promise<void> {
    const current = draining.get(sessionId);
    if (current !== undefined) {
      isDirty.add(sessionId);
      return current;
    }
    const run = drainUntilClean(sessionId, told)
      .then(() => trials.over(sessionId, SPOOL))
      .catch((error: unknown) => {
        isDirty.add(sessionId);
        if (trials.failed(sessionId, SPOOL, () => void drain(sessionId)))
          parts.log("hook records could not be read; tried again", { session: sessionId, why: messageOf(error) });
      })
      .finally(() => draining.delete(sessionId));
    draining.set(sessionId, run);
    return run;
  }

  async function drainUntilClean(sessionId: string, told: string | null): Promise<void> {
    const session = parts.store.registry.get(sessionId);
    if (session === undefined) return;
    const directory = spoolDirOf(session.identity.outputsDir);
    const { files } = parts.runtime(session.identity.runtime);
    // Somebody waits for it: what else is there is looked for afterwards. The watcher names what was removed as well.
    if (told !== null && !isDirty.has(sessionId) && !hasCounted(session, told)) {
      const record = await readRecord(files, join(directory, told));
      if (record !== undefined) await take(session, files, { directory, name: told, record });
    }
    do {
      isDirty.delete(sessionId);
      const names = (await files.list(directory)).map(({ name }) => name).filter(isRecordName);
      for (const name of names.toSorted()) await consume(session, files, directory, name);
    } while (isDirty.has(sessionId));
  }

  async function consume(session: Session, files: SessionFiles, directory: string, name: string): Promise<void> {
    if (hasCounted(session, name)) return await files.remove(join(directory, name));
    const record = await readRecord(files, join(directory, name));
    if (record === undefined) parts.log("a hook record cannot be read", { session: session.id, name });
    await take(session, files, { directory, name, record });
  }

  async function take(session: Session, files: SessionFiles, { directory, name, record }: FoundRecord): Promise<void> {
    const now = parts.store.registry.get(session.id) ?? session;
    const reading = record === undefined ? null : parts.agent(session.identity.agent).readHook(record, knownOf(now));
    if (reading !== null) await parts.readings.take(session, reading, name);
    await files.remove(join(directory, name));
  }

  /** They are read one after the other: only the newest can have counted and still be there. */
  function hasCounted({ id }: Session, name: string): boolean {
    return parts.store.registry.get(id)?.watch.lastRecord === name;
  }

  function heard(session: Session, change: FileChange): void {
    if (change.type === "lost")
      parts.log("hook records can no longer be watched", { session: session.id, why: change.why });
    else if (change.name === null || isRecordName(change.name)) void drain(session.id, change.name);
  }

  /** One that is not there yet is closed when it is. */
  function unwatch(sessionId: string): void {
    watchers.get(sessionId)?.then(
      (watch) => watch.close(),
      () => undefined,
    );
    watchers.delete(sessionId);
  }

  return {
    async follow(session) {
      // What is there comes before what the watcher tells of.
      isDirty.add(session.id);
      const directory = spoolDirOf(session.identity.outputsDir);
      const { files } = parts.runtime(session.identity.runtime);
      const watching =
        watchers.get(session.id) ??
        files.makeDirectory(directory).then(() => files.watch(directory, (change) => heard(session, change)));
      watchers.set(session.id, watching);
      try {
        await watching;
      } catch (error) {
        if (watchers.get(session.id) === watching) watchers.delete(session.id);
        throw error;
      }
      await drain(session.id);
    },
    async leave(session) {
      unwatch(session.id);
      await drain(session.id);
    },
    async close() {
      for (const sessionId of watchers.keys()) unwatch(sessionId);
      await Promise.all(draining.values());
    },
  };
}

/** Not what is still being written. */
function isRecordName(name: string): boolean {
  return name.endsWith(".json") && !name.startsWith(".");
}

/** Undefined for anything that is not a plain, small, well-formed file. */
async function readRecord(files: SessionFiles, path: string): Promise<unknown> {
  const text = await files.read(path, { mostBytes: LARGEST_RECORD_BYTES, refuseLinks: true });
  try {
    return text === null ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}
