/**
 * Group commit. Changes queued in one turn of the event loop share one
 * transaction and so one fsync; each is still all or nothing, and one that
 * contradicts what is stored is refused alone. Nothing becomes visible, and no
 * promise resolves, before COMMIT has returned.
 *
 * The flush waits for the check phase (`setImmediate`): by then every I/O
 * callback of the turn has queued what it had. A microtask would flush after
 * the first of them, and cost the others a transaction each.
 */
import { failpoint } from "../platform/failpoint.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import { isCorruption, isStorageFailure, storageError, type Sqlite } from "./sqlite.ts";

/** `before`: what was staged earlier in the same transaction, and is not visible to readers yet. */
type Stage<Staged> = (before: readonly Staged[]) => Staged;

interface Pending<Staged> {
  readonly stage: Stage<Staged>;
  readonly resolve: (staged: Staged) => void;
  readonly reject: (error: unknown) => void;
}

type Outcome<Staged> = { readonly ok: true; readonly staged: Staged } | { readonly ok: false; readonly error: unknown };

export interface CommitQueueOptions<Staged> {
  readonly db: Sqlite;
  /** Inside the transaction, with everything that it will keep. */
  readonly complete: (staged: readonly Staged[]) => void;
  /** Called once per transaction, after it is durable. */
  readonly publish: (staged: readonly Staged[]) => void;
  readonly onCorruption: (error: unknown) => void;
}

export class CommitQueue<Staged> {
  readonly #options: CommitQueueOptions<Staged>;
  #pending: Pending<Staged>[] = [];
  #closed = false;

  constructor(options: CommitQueueOptions<Staged>) {
    this.#options = options;
  }

  /** `stage` writes inside the shared transaction and throws to refuse; it may be run twice, the first time undone. */
  enqueue(stage: Stage<Staged>): Promise<Staged> {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setImmediate(() => this.#flush());
      this.#pending.push({ stage, resolve, reject });
    });
  }

  /** Writes what is queued and takes nothing more. */
  close(): void {
    this.#closed = true;
    this.#flush();
  }

  #flush(): void {
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    let outcomes: Outcome<Staged>[];
    try {
      outcomes = this.#commitTogether(batch) ?? this.#commitApart(batch);
    } catch (error) {
      if (isCorruption(error)) this.#options.onCorruption(error);
      const refusal = storageError(error);
      for (const change of batch) change.reject(refusal);
      return;
    }
    failpoint("store.after-commit");
    this.#options.publish(outcomes.flatMap((outcome) => (outcome.ok ? [outcome.staged] : [])));
    outcomes.forEach((outcome, index) => {
      if (outcome.ok) batch[index]?.resolve(outcome.staged);
      else batch[index]?.reject(outcome.error);
    });
  }

  /** The usual case, without a savepoint for each change; undefined when one of them was refused and all were undone. */
  #commitTogether(batch: readonly Pending<Staged>[]): Outcome<Staged>[] | undefined {
    try {
      return this.#transaction(() => {
        const staged: Staged[] = [];
        for (const { stage } of batch) staged.push(stage(staged));
        this.#options.complete(staged);
        return staged.map((one) => ({ ok: true, staged: one }));
      });
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      return undefined;
    }
  }

  #commitApart(batch: readonly Pending<Staged>[]): Outcome<Staged>[] {
    return this.#transaction(() => {
      const staged: Staged[] = [];
      const outcomes = batch.map(({ stage }) => {
        const outcome = this.#attempt(() => stage(staged));
        if (outcome.ok) staged.push(outcome.staged);
        return outcome;
      });
      this.#options.complete(staged);
      return outcomes;
    });
  }

  #attempt(stage: () => Staged): Outcome<Staged> {
    try {
      return { ok: true, staged: this.#options.db.savepoint(stage) };
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      return { ok: false, error: error instanceof ReeveError ? error : contradiction(error) };
    }
  }

  #transaction(work: () => Outcome<Staged>[]): Outcome<Staged>[] {
    return this.#options.db.transaction(work, "store.before-commit");
  }
}

function contradiction(error: unknown): ReeveError {
  const message = `The change contradicts what is stored (${messageOf(error)}); nothing of it was kept.`;
  return new ReeveError({ code: "change-refused", kind: "internal", message });
}

function closedError(): ReeveError {
  return new ReeveError({
    code: "store-closed",
    kind: "unavailable",
    message: "The store is closed; the daemon is stopping, try again when it is back.",
  });
}
