/**
 * Finds out which conversation a session has, for agents that do not say so at
 * once: by the files its processes hold open, and by looking for the
 * transcript of an id that is known. Ends when both are known.
 */
import { join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { targetOf } from "../ledger/target.ts";
import { knownOf } from "./known.ts";
import type { Readings } from "./readings.ts";
import type { Watcher } from "./watcher.ts";

/** Dense while a session is young and somebody waits, sparse for one that sits without a prompt. */
const FIRST_LOOKS = 50;
const FIRST_LOOK_MS = 250;
const LATER_LOOK_MS = 3_000;
/** Directories read in one search: a year of dated ones, and some. */
const MOST_DIRECTORIES = 1_000;

export function createIdentityWatch(parts: {
  readonly store: Store;
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "openFiles" | "files">;
  readonly readings: Readings;
  readonly scheduler: Scheduler;
  readonly log: Log;
}): Watcher {
  const sought = new Set<string>();

  async function look(sessionId: string, count: number): Promise<void> {
    try {
      const session = parts.store.registry.get(sessionId);
      if (session === undefined || session.process.exit !== null || !isWanted(session)) return stop(sessionId);
      await byOpenFiles(session);
      const again = parts.store.registry.get(sessionId);
      if (again !== undefined && again.watch.observability.transcriptPath === null) await bySearch(again);
    } catch (error) {
      parts.log("the search for a conversation failed", { session: sessionId, why: messageOf(error) });
    }
    if (sought.has(sessionId)) schedule(sessionId, count + 1);
  }

  async function byOpenFiles(session: Session): Promise<void> {
    const paths = await parts.runtime(session.identity.runtime).openFiles(targetOf(session), session.process.place);
    const reading = parts.agent(session.identity.agent).readOpenFiles(paths, knownOf(session));
    if (reading !== null) await parts.readings.take(session, reading);
  }

  async function bySearch(session: Session): Promise<void> {
    const search = parts.agent(session.identity.agent).searchTranscript(knownOf(session));
    if (search === null) return;
    const { files } = parts.runtime(session.identity.runtime);
    const transcriptPath = await find(files, search.root, search.depth, search.suffix);
    if (transcriptPath === null) return;
    const detail = `found by its id: ${transcriptPath}`;
    await parts.readings.take(session, { source: "transcript", detail, transcriptPath });
  }

  function isWanted(session: Session): boolean {
    return (
      parts.agent(session.identity.agent).capabilities.transcript &&
      (session.conversation.nativeId === null || session.watch.observability.transcriptPath === null)
    );
  }

  function schedule(sessionId: string, count: number): void {
    const delay = count < FIRST_LOOKS ? FIRST_LOOK_MS : LATER_LOOK_MS;
    sought.add(sessionId);
    parts.scheduler.after(sessionId, "identity", delay, () => void look(sessionId, count));
  }

  function stop(sessionId: string): void {
    parts.scheduler.cancel(sessionId, "identity");
    sought.delete(sessionId);
  }

  return {
    attend(session) {
      if (!sought.has(session.id) && isWanted(session)) schedule(session.id, 0);
    },
    async leave(session) {
      stop(session.id);
      if (isWanted(session)) await bySearch(session).catch(() => undefined);
    },
    async close() {
      for (const sessionId of sought) stop(sessionId);
    },
  };
}

/** The newest directories first: what is looked for was written a moment ago. */
async function find(files: SessionFiles, root: string, depth: number, suffix: string): Promise<string | null> {
  let budget = MOST_DIRECTORIES;
  const visit = async (directory: string, left: number): Promise<string | null> => {
    if (budget-- <= 0) return null;
    const entries = await files.list(directory).catch(() => []);
    const file = entries.find((entry) => entry.isFile && entry.name.endsWith(suffix));
    if (file !== undefined) return join(directory, file.name);
    if (left === 0) return null;
    const below = entries.filter((entry) => entry.isDirectory).map((entry) => entry.name);
    for (const name of below.toSorted().reverse()) {
      const found = await visit(join(directory, name), left - 1);
      if (found !== null) return found;
    }
    return null;
  };
  return visit(root, depth);
}
