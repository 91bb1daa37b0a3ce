/**
 * Tells the vector store of every memory, and of every one that was forgotten. What
 * it has to be told is noted in memory.db, in the commit of the change, and crossed
 * out after the store said that it has it: a kill of either side means that it is
 * told again, which changes nothing, because a memory is put under its own id.
 * While the store is down everything else works.
 */
import type { MemoryFilter } from "../../memory/memory.ts";
import type { MemoryStore } from "../../memory/memory-store.ts";
import { failpoint } from "../../platform/failpoint.ts";
import type { Log } from "../../platform/log.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import type { VectorStore } from "./chroma.ts";

/** A memory may have 64 KB. */
const AT_ONCE = 50;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 30_000;

export interface VectorKeeper {
  start(): void;
  /** Something was noted. */
  poke(): void;
  /** Ids, the nearest first; null: it could not be asked. */
  find(text: string, filter: MemoryFilter, limit: number): Promise<readonly string[] | null>;
  view(): { readonly url: string; readonly failure: string | null; readonly waiting: number };
  close(): Promise<void>;
}

export function createVectorKeeper(parts: {
  readonly url: string;
  readonly vectors: VectorStore;
  readonly memories: MemoryStore;
  readonly scheduler: Scheduler;
  readonly log: Log;
}): VectorKeeper {
  const { url, vectors, memories, scheduler, log } = parts;
  let collection: string | null = null;
  let failure: string | null = null;
  let retryMs = FIRST_RETRY_MS;
  let isClosed = false;
  let working: Promise<void> | null = null;

  async function connected(): Promise<string> {
    if (collection !== null) return collection;
    const id = await vectors.connect();
    // Another collection than the one that was told so far holds nothing yet.
    memories.outgoing.useStore(`${url} ${id}`);
    collection = id;
    return id;
  }

  async function tellAll(): Promise<void> {
    const into = await connected();
    for (;;) {
      const batch = memories.outgoing.next(AT_ONCE);
      if (batch.length === 0 || isClosed) return;
      const kept = batch.flatMap(({ memory }) => (memory === null ? [] : [memory]));
      const gone = batch.flatMap(({ id, memory }) => (memory === null ? [id] : []));
      if (kept.length > 0) await vectors.put(into, kept);
      if (gone.length > 0) await vectors.remove(into, gone);
      failpoint("memory.vectors-told");
      memories.outgoing.done(batch);
    }
  }

  async function work(): Promise<void> {
    try {
      await tellAll();
      if (failure !== null) log("the vector store of the memories answers again", { url });
      failure = null;
      retryMs = FIRST_RETRY_MS;
    } catch (error) {
      if (failure === null) log("the vector store of the memories cannot be used", { url, why: messageOf(error) });
      failure = messageOf(error);
      // After a restart it may have lost the collection.
      collection = null;
      scheduler.atMost(null, "memory-vectors", retryMs, poke);
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
    }
  }

  /** What is noted while it works is found by its loop; the last look and the end of it are one step. */
  function poke(): void {
    if (isClosed || working !== null) return;
    working = work().finally(() => {
      working = null;
      if (failure === null && !isClosed && memories.outgoing.count() > 0) poke();
    });
  }

  return {
    start() {
      memories.outgoing.resume(url);
      poke();
    },
    poke,
    async find(text, filter, limit) {
      if (failure !== null) return null;
      try {
        return await vectors.find(await connected(), text, filter, limit);
      } catch (error) {
        failure = messageOf(error);
        collection = null;
        scheduler.atMost(null, "memory-vectors", retryMs, poke);
        return null;
      }
    },
    view: () => ({ url, failure, waiting: memories.outgoing.count() }),
    async close() {
      isClosed = true;
      await working;
    },
  };
}
