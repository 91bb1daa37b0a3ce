/**
 * Keeps a log-in that its agent replaces by a new file the same on both sides of a container: whichever side renewed it
 * last counts, also for every other session that has it. A file that is mounted by itself could not do that: it stays what
 * it was when the container began. A log-in that is gone on one side is not made anew, nor removed on the other.
 */
import { basename, dirname, join } from "node:path";
import type { Agent } from "../../agent/contract.ts";
import { parseFields } from "../../platform/json-fields.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { FileWatch, SessionFiles } from "../../runtime/session-files.ts";
import { homeDirOf } from "../../session/session-directory.ts";
import type { Session } from "../../session/session.ts";
import type { Watcher } from "./watcher.ts";

const LARGEST_LOGIN_BYTES = 65_536;

interface Pair {
  /** The user's own. */
  readonly outside: string;
  readonly inside: string;
}

interface Followed {
  readonly watches: FileWatch[];
  isStopped: boolean;
}

export function createLoginWatch(parts: {
  readonly agent: (name: string) => Agent;
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  readonly log: Log;
}): Watcher {
  const followed = new Map<string, Followed>();
  const queue = createKeyedQueue();

  function pairsOf({ identity }: Session): readonly Pair[] {
    const { agent, launch, outputsDir } = identity;
    if (launch.container === null) return [];
    const inStep = (parts.agent(agent).homeParts?.(launch) ?? []).filter(({ how }) => how === "in-step");
    return inStep.map(({ path, source }) => ({ outside: source, inside: join(homeDirOf(outputsDir), path) }));
  }

  /** One after the other for each log-in, whoever has it. */
  function compare(sessionId: string, files: SessionFiles, pair: Pair): void {
    queue
      .run(pair.outside, () => keepInStep(files, pair))
      .catch((error: unknown) =>
        parts.log("a log-in could not be kept in step", { session: sessionId, why: messageOf(error) }),
      );
  }

  async function follow(session: Session, pair: Pair, entry: Followed): Promise<void> {
    const { files } = parts.runtime(session.identity.runtime);
    for (const path of [pair.outside, pair.inside]) {
      const watch = await files.watch(dirname(path), (change) => {
        if (entry.isStopped) return;
        if (change.type === "lost")
          parts.log("a log-in can no longer be watched", { session: session.id, why: change.why });
        else if (change.name === null || change.name === basename(path)) compare(session.id, files, pair);
      });
      if (entry.isStopped) return watch.close();
      entry.watches.push(watch);
    }
    // What changed while nobody watched.
    compare(session.id, files, pair);
  }

  function stop(sessionId: string): void {
    const entry = followed.get(sessionId);
    followed.delete(sessionId);
    if (entry === undefined) return;
    entry.isStopped = true;
    for (const watch of entry.watches) watch.close();
  }

  return {
    attend(session) {
      if (followed.has(session.id) || session.identity.launch.container === null) return;
      const entry: Followed = { watches: [], isStopped: false };
      followed.set(session.id, entry);
      for (const pair of pairsOf(session))
        follow(session, pair, entry).catch((error: unknown) =>
          parts.log("a log-in cannot be watched", { session: session.id, why: messageOf(error) }),
        );
    },
    async leave(session) {
      stop(session.id);
      const { files } = parts.runtime(session.identity.runtime);
      for (const pair of pairsOf(session)) compare(session.id, files, pair);
      await queue.idle();
    },
    async close() {
      for (const sessionId of followed.keys()) stop(sessionId);
      await queue.idle();
    },
  };
}

async function keepInStep(files: SessionFiles, { outside, inside }: Pair): Promise<void> {
  const [theirs, own] = await Promise.all([files.stat(outside), files.stat(inside)]);
  if (theirs?.isFile !== true || own?.isFile !== true) return;
  const [before, renewed] = await Promise.all([
    files.read(outside, { mostBytes: LARGEST_LOGIN_BYTES }),
    files.read(inside, { mostBytes: LARGEST_LOGIN_BYTES, refuseLinks: true }),
  ]);
  if (before === null || renewed === null || before === renewed) return;
  if (theirs.modifiedAt >= own.modifiedAt) return await put(files, inside, before);
  // What a container wrote is only taken if it can be a log-in, and put where the user's own link leads.
  if (parseFields(renewed) === null)
    throw new Error("what is in the container is no log-in, so yours was left as it is");
  await put(files, (await files.realPath(outside)) ?? outside, renewed);
}

function put(files: SessionFiles, path: string, content: string): Promise<void> {
  return files.write({ path, content, isExecutable: false });
}
