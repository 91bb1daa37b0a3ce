/**
 * Reads the status files that some agents keep while they run, from the
 * directory their plan names. A file counts only for the process that it names,
 * because a killed process leaves its last status behind.
 */
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { Log } from "../../platform/log.ts";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { FileChange, FileWatch } from "../../runtime/session-files.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { targetOf } from "../ledger/target.ts";
import { knownOf } from "./known.ts";
import type { SoftWatch } from "./soft-watch.ts";
import { createTrials } from "./trials.ts";
import type { Watcher } from "./watcher.ts";

/** Of a status file. */
export const LARGEST_STATUS_BYTES = 65_536;
/** The directory may only appear with the first file in it. */
const RETRY_MS = 500;

interface Followed {
  watch: FileWatch | null;
  isStopped: boolean;
}

function purposeOf(name: string): string {
  return `status file ${name}`;
}

export function createStatusWatch(parts: {
  readonly store: Store;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "owns" | "files">;
  readonly soft: SoftWatch;
  readonly scheduler: Scheduler;
  readonly log: Log;
}): Watcher {
  const followed = new Map<string, Followed>();
  const queue = createKeyedQueue();
  const trials = createTrials(parts.scheduler);

  async function read(of: Session, name: string): Promise<Reading | null> {
    const runtime = parts.runtime(of.identity.runtime);
    const { statusDir } = of.watch;
    const content =
      statusDir === null ? null : await runtime.files.read(join(statusDir, name), { mostBytes: LARGEST_STATUS_BYTES });
    const session = parts.store.registry.get(of.id);
    if (session?.process.incarnation !== of.process.incarnation) return null;
    const agent = parts.agent(session.identity.agent);
    const reading = agent.readStatus({ name, content }, knownOf(session));
    if (reading === null || content === null || agent.readHolder === undefined) return reading;
    const holder =
      session.conversation.nativeId === null
        ? null
        : agent.readHolder({ name, content }, session.conversation.nativeId);
    return holder !== null && (await runtime.owns(targetOf(session), holder)) ? reading : null;
  }

  /** One after another: an answer that takes longer must not be weighed after a newer one. */
  function notice(sessionId: string, name: string): Promise<void> {
    return queue.run(sessionId, () => weigh(sessionId, name));
  }

  async function weigh(sessionId: string, name: string): Promise<void> {
    if (!followed.has(sessionId)) return trials.over(sessionId, purposeOf(name));
    try {
      const session = parts.store.registry.get(sessionId);
      const reading = session === undefined ? null : await read(session, name);
      if (session !== undefined && reading !== null)
        await parts.soft.weigh(session, "status", reading, () => read(session, name));
      trials.over(sessionId, purposeOf(name));
    } catch (error) {
      const again = (): void => void notice(sessionId, name);
      if (followed.has(sessionId) && trials.failed(sessionId, purposeOf(name), again))
        parts.log("a status file could not be read; tried again", { session: sessionId, name, why: messageOf(error) });
    }
  }

  async function follow(session: Session, directory: string, entry: Followed): Promise<void> {
    const { files } = parts.runtime(session.identity.runtime);
    try {
      const watch = await files.watch(directory, (change) => heard(session.id, entry, change));
      if (entry.isStopped) return watch.close();
      entry.watch = watch;
    } catch (error) {
      if (errnoOf(error) !== "ENOENT")
        parts.log("a status directory cannot be watched", { session: session.id, why: messageOf(error) });
      if (!entry.isStopped)
        parts.scheduler.after(session.id, "status", RETRY_MS, () => void follow(session, directory, entry));
      return;
    }
    const names = await files.list(directory).catch(() => []);
    for (const { name } of names) void notice(session.id, name);
  }

  function heard(sessionId: string, entry: Followed, change: FileChange): void {
    if (entry.isStopped) return;
    if (change.type === "lost")
      parts.log("a status directory can no longer be watched", { session: sessionId, why: change.why });
    else if (change.name !== null) void notice(sessionId, change.name);
  }

  function stop(sessionId: string): void {
    const entry = followed.get(sessionId);
    if (entry === undefined) return;
    followed.delete(sessionId);
    entry.isStopped = true;
    entry.watch?.close();
    parts.scheduler.cancel(sessionId, "status");
  }

  return {
    attend(session) {
      const { statusDir } = session.watch;
      if (statusDir === null || followed.has(session.id)) return;
      const entry: Followed = { watch: null, isStopped: false };
      followed.set(session.id, entry);
      void follow(session, statusDir, entry);
    },
    async leave(session) {
      stop(session.id);
    },
    async close() {
      for (const sessionId of followed.keys()) stop(sessionId);
      await queue.idle();
    },
  };
}
