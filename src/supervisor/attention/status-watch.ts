/**
 * Reads the status files that some agents keep while they run, from the
 * directory their plan names. A file speaks only for the process that it
 * names: one that was killed leaves its last status behind.
 */
import type { FSWatcher } from "node:fs";
import { constants, readdirSync, readFileSync, statSync, watch } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import { withDescriptor } from "../../platform/descriptors.ts";
import type { Log } from "../../platform/log.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import type { Reading } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import { knownOf } from "./known.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { targetOf } from "../ledger/target.ts";
import type { SoftWatch } from "./soft-watch.ts";
import type { Watcher } from "./watcher.ts";

const LARGEST_FILE_BYTES = 65_536;
/** The directory may only appear with the first file in it. */
const RETRY_MS = 500;

export function createStatusWatch(parts: {
  readonly store: Store;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "owns">;
  readonly soft: SoftWatch;
  readonly log: Log;
}): Watcher {
  const watchers = new Map<string, { readonly close: () => void }>();
  const queue = createKeyedQueue();

  async function read(of: Session, name: string): Promise<Reading | null> {
    const content = of.watch.statusDir === null ? null : await readSmall(join(of.watch.statusDir, name));
    const session = parts.store.registry.get(of.id);
    if (session?.incarnation !== of.incarnation) return null;
    const agent = parts.agent(session.agent);
    const reading = agent.readStatus({ name, content }, knownOf(session));
    if (reading === null || content === null || agent.readHolder === undefined) return reading;
    const holder = session.nativeId === null ? null : agent.readHolder({ name, content }, session.nativeId);
    return holder !== null && (await parts.runtime(session.runtime).owns(targetOf(session), holder)) ? reading : null;
  }

  /** One after another: an answer that takes longer must not be weighed after a newer one. */
  function notice(sessionId: string, name: string): Promise<void> {
    return queue.run(sessionId, () => weigh(sessionId, name));
  }

  async function weigh(sessionId: string, name: string): Promise<void> {
    try {
      const session = parts.store.registry.get(sessionId);
      const reading = session === undefined ? null : await read(session, name);
      if (session !== undefined && reading !== null)
        await parts.soft.weigh(session, "status", reading, () => read(session, name));
    } catch (error) {
      parts.log("a status file could not be read", { session: sessionId, name, why: messageOf(error) });
    }
  }

  function follow(sessionId: string, directory: string): void {
    let watcher: FSWatcher;
    try {
      watcher = watch(directory, (_event, name) => {
        if (typeof name === "string") void notice(sessionId, name);
      });
    } catch (error) {
      if (errnoOf(error) !== "ENOENT")
        parts.log("a status directory cannot be watched", { session: sessionId, why: messageOf(error) });
      const timer = setTimeout(() => follow(sessionId, directory), RETRY_MS).unref();
      watchers.set(sessionId, { close: () => clearTimeout(timer) });
      return;
    }
    watcher.on("error", (error) =>
      parts.log("a status directory can no longer be watched", { session: sessionId, why: messageOf(error) }),
    );
    watcher.unref();
    watchers.set(sessionId, watcher);
    void readdir(directory).then(
      (names) => names.forEach((name) => void notice(sessionId, name)),
      () => undefined,
    );
  }

  function stop(sessionId: string): void {
    watchers.get(sessionId)?.close();
    watchers.delete(sessionId);
  }

  return {
    attend({ id, watch: { statusDir } }: Session) {
      if (statusDir !== null && !watchers.has(id)) follow(id, statusDir);
    },
    async leave(session) {
      stop(session.id);
    },
    async close() {
      for (const sessionId of watchers.keys()) stop(sessionId);
    },
  };
}

/** Null for what is not there, not a file, or too large to be one of these. */
async function readSmall(path: string): Promise<string | null> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const about = await file.stat();
    return about.isFile() && about.size <= LARGEST_FILE_BYTES ? await file.readFile("utf8") : null;
  } finally {
    await file.close();
  }
}

/**
 * All there are now, for a question that must be answered before something is
 * started: what is gone or not ours to read is left out, anything else is thrown.
 */
export function readSmallFiles(directory: string): readonly { readonly name: string; readonly content: string }[] {
  const names = unlessHidden(() => readdirSync(directory)) ?? [];
  return names.flatMap((name) => {
    const content = unlessHidden(() => {
      const path = join(directory, name);
      const about = statSync(path);
      return about.isFile() && about.size <= LARGEST_FILE_BYTES ? readFileSync(path, "utf8") : null;
    });
    return content === null ? [] : [{ name, content }];
  });
}

function unlessHidden<T>(read: () => T): T | null {
  try {
    return withDescriptor(read);
  } catch (error) {
    if (HIDDEN.has(errnoOf(error) ?? "")) return null;
    throw error;
  }
}

const HIDDEN: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM"]);
