/**
 * What the thread of the index does when it is asked. A file that turns out to be
 * damaged, or is no longer there, is made anew; whoever wrote to it is told by
 * `index-rebuilt`, and reads everything again.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import type { Batch, Followed, IndexState, IndexWork } from "./contract.ts";
import { countNumbers } from "./count-numbers.ts";
import { findEntries } from "./find-entries.ts";
import { create, type IndexFile, isDamage, openIndexFile } from "./index-file.ts";
import { forgetSession, removeEvents, removeMails, setMeta, writeBatch } from "./write-batch.ts";

export const REBUILT = "index-rebuilt";

export function createIndexWork(path: string): IndexWork {
  let opened: IndexFile | null = null;

  function current(): IndexFile {
    if (opened !== null && !opened.isThere()) {
      opened.close();
      opened = null;
    }
    opened ??= openIndexFile(path);
    return opened;
  }

  function guarded<Result>(work: (file: IndexFile) => Result): Result {
    try {
      return work(current());
    } catch (error) {
      if (!isDamage(error)) throw error;
      renew(error instanceof Error ? error.message : String(error));
      throw rebuilt();
    }
  }

  function renew(damage: string | null): IndexFile {
    try {
      opened?.close();
    } catch {
      // It goes anyway.
    }
    opened = null;
    opened = create(path, damage);
    return opened;
  }

  return {
    state: () => guarded(stateOf),
    write: (batch) =>
      guarded((file) => {
        requireEpoch(file, batch.epoch);
        file.transaction(() => writeBatch(file, batch));
      }),
    find: (ask, epoch) =>
      guarded((file) => {
        requireEpoch(file, epoch);
        return findEntries(file, ask);
      }),
    numbers: (ask, epoch) =>
      guarded((file) => {
        requireEpoch(file, epoch);
        return countNumbers(file, ask);
      }),
    forget: (sessionId) => guarded((file) => forgetSession(file, sessionId)),
    eventsIn: (after, through, limit) =>
      guarded((file) =>
        file
          .all<{ digest: number }>(
            "SELECT digest FROM entry WHERE source = 0 AND digest > ? AND digest <= ? ORDER BY digest LIMIT ?",
            after,
            through,
            limit,
          )
          .map(({ digest }) => digest),
      ),
    removeEvents: (seqs) => guarded((file) => file.transaction(() => removeEvents(file, seqs))),
    notePruned: (through) => guarded((file) => setMeta(file, "pruned-through", String(through))),
    mailsIn: (after, limit) =>
      guarded((file) =>
        file
          .all<{ ref: string }>(
            "SELECT ref FROM entry WHERE source = -1 AND ref > ? ORDER BY ref LIMIT ?",
            after,
            limit,
          )
          .map(({ ref }) => ref),
      ),
    removeMails: (ids) => guarded((file) => file.transaction(() => removeMails(file, ids))),
    reset(instance) {
      setMeta(renew(null), "instance", instance);
    },
    close() {
      opened?.close();
      opened = null;
    },
  };
}

function rebuilt(): ReeveError {
  const message = "The search index was damaged or removed, and is being built anew; search again in a moment.";
  return new ReeveError({ code: REBUILT, kind: "unavailable", message });
}

/** Another one holds nothing of what its reader believes to be in it. */
function requireEpoch(file: IndexFile, epoch: string | null): void {
  if (epoch !== null && epochOf(file) !== epoch) throw rebuilt();
}

function epochOf(file: IndexFile): Batch["epoch"] {
  return metaOf(file, "epoch");
}

function metaOf(file: IndexFile, key: string): string {
  return file.get<{ value: string }>("SELECT value FROM meta WHERE key = ?", key)?.value ?? "";
}

function stateOf(file: IndexFile): IndexState {
  interface Row {
    readonly session: string;
    readonly path: string;
    readonly cursor: string | null;
    readonly total: string | null;
    readonly is_done: number;
  }
  const rows = file.all<Row>("SELECT session, path, cursor, total, is_done FROM followed");
  return {
    epoch: epochOf(file),
    instance: metaOf(file, "instance"),
    eventCursor: Number(metaOf(file, "event-cursor")),
    prunedThrough: Number(metaOf(file, "pruned-through")),
    followed: rows.map(({ session, path, cursor, total, is_done: done }): Followed => ({
      sessionId: session,
      path,
      cursor: cursor === null ? null : (JSON.parse(cursor) as Followed["cursor"]),
      total: total === null ? null : (JSON.parse(total) as Followed["total"]),
      isDone: done === 1,
    })),
    sessions: file
      .all<{ session: string }>("SELECT session FROM followed UNION SELECT session FROM turn")
      .map(({ session }) => session),
    damage: file.damage,
    isNew: file.isNew,
  };
}
