/**
 * The memories, as operations use them: secrets are taken out before anything is
 * written, the vector store follows where there is one, and a search takes both
 * into account. SQLite works here and not in a thread: an entry is at most 64 KB,
 * and a search takes a few milliseconds (decision 67).
 */
import { redact } from "../../capture/redaction.ts";
import { isWithin, type Memory, type MemoryFilter } from "../../memory/memory.ts";
import type { MemoryStore } from "../../memory/memory-store.ts";
import type { Log } from "../../platform/log.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { createChroma } from "./chroma.ts";
import { createVectorKeeper, type VectorKeeper } from "./vector-keeper.ts";

export interface FoundMemories {
  readonly found: readonly { readonly memory: Memory; readonly score: number }[];
  /** Why the vector store was not asked; null: it was, or there is none. */
  readonly missing: string | null;
}

export interface Memories extends Pick<MemoryStore, "get" | "list" | "count"> {
  add(memory: Memory): Promise<void>;
  forget(id: string): boolean;
  find(text: string, filter: MemoryFilter, limit: number): Promise<FoundMemories>;
  /** Null: there is none in the settings. */
  vectorStore(): ReturnType<VectorKeeper["view"]> | null;
  warnings(): readonly string[];
}

export interface OpenMemories extends Memories {
  start(): void;
  close(): Promise<void>;
}

/** With the vector store that the settings name. */
export function openMemories(parts: {
  readonly memories: MemoryStore;
  readonly settings: { readonly chroma: string | null };
  readonly store: { readonly instance: string };
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly secretsOf: (sessionId: string) => Promise<readonly string[]>;
  readonly onRemembered: (sessionId: string) => Promise<void>;
}): OpenMemories {
  const { memories, secretsOf, onRemembered, settings } = parts;
  const url = settings.chroma;
  const vectors =
    url === null
      ? null
      : createVectorKeeper({ ...parts, url, vectors: createChroma(url, `reeve-${parts.store.instance}`) });
  return {
    ...createMemories({ store: memories, vectors, secretsOf, onRemembered }),
    start: () => (vectors === null ? memories.outgoing.useStore(null) : vectors.start()),
    close: async () => await vectors?.close(),
  };
}

export function createMemories(parts: {
  readonly store: MemoryStore;
  readonly vectors: VectorKeeper | null;
  /** The values of a session's secrets. */
  readonly secretsOf: (sessionId: string) => Promise<readonly string[]>;
  /** A session has remembered something itself; awaited before it is told so. */
  readonly onRemembered: (sessionId: string) => Promise<void>;
}): Memories {
  const { store, vectors, secretsOf, onRemembered } = parts;

  return {
    get: store.get,
    list: store.list,
    count: store.count,

    async add(memory) {
      const author = memory.by.replace(/^session:/, "");
      const ids = [...new Set([author, memory.sessionId ?? author])];
      const secrets = (await Promise.all(ids.map(secretsOf))).flat();
      const safe = (text: string): string => redact(text, secrets);
      store.add({ ...memory, text: safe(memory.text), tags: memory.tags.map(safe) });
      vectors?.poke();
      if (author !== memory.by) await onRemembered(author);
    },

    forget(id) {
      const isGone = store.forget(id);
      if (isGone) vectors?.poke();
      return isGone;
    },

    async find(text, filter, limit) {
      const local = store.find(text, filter, limit);
      if (vectors === null) return { found: local, missing: null };
      const near = await vectors.find(text, filter, limit);
      if (near === null) return { found: local, missing: vectors.view().failure };
      const known = new Map(local.map(({ memory }) => [memory.id, memory]));
      const others = near.flatMap((id) => {
        const memory = known.get(id) ?? store.get(id);
        return memory === undefined || !fits(memory, filter) ? [] : [memory];
      });
      return { found: merged([local.map(({ memory }) => memory), others], limit), missing: null };
    },

    vectorStore: () => vectors?.view() ?? null,
    warnings: () => [store.warning()].filter((warning) => warning !== null),
  };
}

/** The vector store's filter may be behind, or another's. */
function fits(memory: Memory, filter: MemoryFilter): boolean {
  return (
    isWithin(memory, filter) &&
    (filter.kind === null || filter.kind === memory.kind) &&
    (filter.tag === null || memory.tags.includes(filter.tag))
  );
}

/** Reciprocal rank fusion: the usual constant, by which a first place in one list does not outweigh both lists. */
const RANK_OFFSET = 60;

function merged(lists: readonly (readonly Memory[])[], limit: number): FoundMemories["found"] {
  const scores = new Map<string, { readonly memory: Memory; readonly score: number }>();
  for (const list of lists)
    for (const [rank, memory] of list.entries()) {
      const before = scores.get(memory.id)?.score ?? 0;
      scores.set(memory.id, { memory, score: before + 1 / (RANK_OFFSET + rank + 1) });
    }
  return [...scores.values()].toSorted((a, b) => b.score - a.score).slice(0, limit);
}
