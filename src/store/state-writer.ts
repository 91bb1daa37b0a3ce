/**
 * Writes every session's state.json after commits, without delaying them. Only
 * the newest record of a session is written, few files at a time. A failed
 * write is logged and tried again with the session's next change.
 *
 * It starts held: until the files have been compared with the database, a file
 * that is ahead of it must not be overwritten.
 */
import { messageOf } from "../platform/reeve-error.ts";
import { type StateRecord, writeStateFile } from "./state-file.ts";
import type { Log } from "./options.ts";

/** Half of Node's four file-system threads: an fsync must not keep everybody else's reads waiting. */
const CONCURRENCY = 2;

/** A start changes its session twice within milliseconds: one write for both, and no fsync between the commits. */
const GATHER_MS = 60;

export class StateWriter {
  readonly #log: Log;
  readonly #waiting = new Map<string, StateRecord>();
  readonly #writing = new Set<string>();
  readonly #idle: (() => void)[] = [];
  /** Being removed: a file would make its directory again. With whoever waits for the last write. */
  readonly #retired = new Map<string, (() => void)[]>();
  #held = true;
  #isGathering = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Resolves when nobody writes it, and from then on nobody does until `forget`. */
  retire(sessionId: string): Promise<void> {
    this.#waiting.delete(sessionId);
    return new Promise((resolve) => {
      const waiting = this.#retired.get(sessionId) ?? [];
      this.#retired.set(sessionId, waiting);
      if (this.#writing.has(sessionId)) waiting.push(resolve);
      else resolve();
    });
  }

  /** It is gone, or stays after all. */
  forget(sessionId: string): void {
    this.#retired.delete(sessionId);
  }

  put(record: StateRecord): void {
    if (this.#retired.has(record.session.id)) return;
    this.#waiting.set(record.session.id, record);
    if (this.#isGathering) return;
    this.#isGathering = true;
    setTimeout(() => {
      this.#isGathering = false;
      this.#advance();
    }, GATHER_MS);
  }

  release(): void {
    this.#held = false;
    this.#advance();
  }

  /** Resolves when nothing is waiting and nothing is being written. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle.push(resolve);
      this.#advance();
    });
  }

  #advance(): void {
    if (this.#held) return;
    for (const [id, record] of this.#waiting) {
      if (this.#writing.size >= CONCURRENCY) return;
      if (this.#writing.has(id)) continue;
      this.#waiting.delete(id);
      this.#writing.add(id);
      void this.#write(record);
    }
    if (this.#writing.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }

  async #write(record: StateRecord): Promise<void> {
    const { id, revision } = record.session;
    const { outputsDir } = record.session.identity;
    try {
      await writeStateFile(record);
    } catch (error) {
      this.#log("state.json could not be written; it is tried again with the session's next change", {
        id,
        outputsDir,
        revision,
        why: messageOf(error),
      });
    }
    this.#writing.delete(id);
    for (const resolve of this.#retired.get(id)?.splice(0) ?? []) resolve();
    this.#advance();
  }
}
