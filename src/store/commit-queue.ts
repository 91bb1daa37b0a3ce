/**
 * Group commit. Changes queued in one turn of the event loop share one
 * transaction and so one fsync; each is still all or nothing, and if one
 * contradicts what is stored, only that one is refused. Nothing becomes
 * visible, and no promise resolves, before COMMIT has returned.
 *
 * The flush waits for the check phase (`setImmediate`): by then every I/O
 * callback of the turn has queued what it had. A microtask would flush after
 * the first of them, and cost the others a transaction each.
 */
import { failpoint } from "../platform/failpoint.ts";
import { messageOf, ReeveError } from "../platform/reeve-error.ts";
import type { LoggedEvent } from "../session/event.ts";
import type { Message } from "../session/message.ts";
import type { Session } from "../session/session.ts";
import type { Removal } from "./change.ts";
import type { Commit, Committer } from "./contract.ts";
import type { Draft } from "./event-log.ts";
import { isCorruption, isStorageFailure, storageError } from "./sqlite.ts";
import type { Tables } from "./tables.ts";

interface Pending {
  readonly commit: Commit;
  readonly resolve: (events: readonly LoggedEvent[]) => void;
  readonly reject: (error: unknown) => void;
}

/** What one commit will look like once its transaction is durable. */
interface Staged {
  readonly sessions: readonly Session[];
  readonly messages: readonly Message[];
  readonly removals: readonly Removal[];
  readonly drafts: readonly Draft[];
  /** The drafts, once they have their numbers. */
  events: readonly LoggedEvent[];
}

type Outcome = { readonly ok: true; readonly staged: Staged } | { readonly ok: false; readonly error: unknown };

export interface CommitQueueOptions {
  readonly tables: Tables;
  /** Called with each session that was changed, after that is durable and visible. */
  readonly onSession: (session: Session) => void;
  readonly onRemoved: (sessionId: string) => void;
  readonly onCorruption: (error: unknown) => void;
}

export class CommitQueue implements Committer {
  readonly #options: CommitQueueOptions;
  #pending: Pending[] = [];
  #closed = false;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  readonly commit = (commit: Commit): Promise<readonly LoggedEvent[]> => {
    if (this.#closed) return Promise.reject(closedError());
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) setImmediate(() => this.#flush());
      this.#pending.push({ commit, resolve, reject });
    });
  };

  /** Writes what is queued and takes nothing more. */
  close(): void {
    this.#closed = true;
    this.#flush();
  }

  #flush(): void {
    const batch = this.#pending;
    if (batch.length === 0) return;
    this.#pending = [];
    let outcomes: Outcome[];
    try {
      outcomes = this.#commitTogether(batch) ?? this.#commitApart(batch);
    } catch (error) {
      if (isCorruption(error)) this.#options.onCorruption(error);
      const refusal = storageError(error);
      for (const { reject } of batch) reject(refusal);
      return;
    }
    failpoint("store.after-commit");
    const kept = outcomes.flatMap((outcome) => (outcome.ok ? [outcome.staged] : []));
    this.#publish(kept);
    outcomes.forEach((outcome, index) => {
      if (outcome.ok) batch[index]?.resolve(outcome.staged.events);
      else batch[index]?.reject(outcome.error);
    });
  }

  /** The usual case, without a savepoint for each change; undefined when one of them was refused and all were undone. */
  #commitTogether(batch: readonly Pending[]): Outcome[] | undefined {
    try {
      return this.#transaction(() => {
        const staged: Staged[] = [];
        for (const { commit } of batch) staged.push(this.#stage(commit, staged));
        this.#number(staged);
        return staged.map((one) => ({ ok: true, staged: one }));
      });
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      return undefined;
    }
  }

  #commitApart(batch: readonly Pending[]): Outcome[] {
    return this.#transaction(() => {
      const staged: Staged[] = [];
      const outcomes = batch.map(({ commit }) => {
        const outcome = this.#attempt(() => this.#stage(commit, staged));
        if (outcome.ok) staged.push(outcome.staged);
        return outcome;
      });
      this.#number(staged);
      return outcomes;
    });
  }

  /** Inside a transaction, in which `before` was staged already and is not visible to readers yet; throws to refuse. */
  #stage(commit: Commit, before: readonly Staged[]): Staged {
    const { log, registry, mailbox, records, idempotency } = this.#options.tables;
    if (commit.idempotency) idempotency.stage(commit.idempotency);
    const sessions: Session[] = [];
    const messages: Message[] = [];
    const removals: Removal[] = [];
    const numbered = commit.numbered?.(log.next() + before.reduce((sum, { drafts }) => sum + drafts.length, 0)) ?? [];
    for (const change of [...(commit.changes ?? []), ...numbered]) {
      switch (change.kind) {
        case "session":
          registry.stage(change.session, [...before.flatMap((staged) => staged.sessions), ...sessions]);
          sessions.push(change.session);
          break;
        case "message":
          messages.push(mailbox.stage(change));
          break;
        case "record":
          records.stage(change);
          break;
        case "removed-session":
          registry.stageRemoval(change.session);
          removals.push(change);
          break;
        case "removed-messages":
          mailbox.stageRemoval(change.sessionId, change.most);
          break;
        case "removed-events":
          log.stageRemoval(change.seqs);
          removals.push(change);
      }
    }
    return { sessions, messages, removals, drafts: log.draft(commit.events ?? []), events: [] };
  }

  /** At the end of a transaction that keeps all of these. Events of many commits are written with few statements. */
  #number(batch: readonly Staged[]): void {
    const logged = this.#options.tables.log.append(batch.flatMap(({ drafts }) => drafts));
    let next = 0;
    for (const staged of batch) staged.events = Object.freeze(logged.slice(next, (next += staged.drafts.length)));
  }

  /** After the transaction; followers are told last, so that they see the rows of what they hear. */
  #publish(batch: readonly Staged[]): void {
    const { log, registry, mailbox } = this.#options.tables;
    for (const { sessions, messages, removals } of batch) {
      for (const session of sessions) registry.publish(session);
      for (const message of messages) mailbox.publish(message);
      for (const removal of removals) {
        if (removal.kind === "removed-session") registry.publishRemoval(removal.session);
        else if (removal.kind === "removed-events") log.publishRemoval(removal.seqs);
      }
    }
    log.publish(batch.flatMap(({ events }) => events));
    for (const { sessions, removals } of batch) {
      for (const session of sessions) this.#options.onSession(session);
      for (const removal of removals)
        if (removal.kind === "removed-session") this.#options.onRemoved(removal.session.id);
    }
  }

  #attempt(stage: () => Staged): Outcome {
    try {
      return { ok: true, staged: this.#options.tables.db.savepoint(stage) };
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      return { ok: false, error: error instanceof ReeveError ? error : contradiction(error) };
    }
  }

  #transaction(work: () => Outcome[]): Outcome[] {
    return this.#options.tables.db.transaction(work, "store.before-commit");
  }
}

function contradiction(error: unknown): ReeveError {
  const message = `The change contradicts what is stored (${messageOf(error)}); nothing was changed.`;
  return new ReeveError({ code: "change-refused", kind: "internal", message });
}

function closedError(): ReeveError {
  return new ReeveError({
    code: "store-closed",
    kind: "unavailable",
    message: "The store is closed; the daemon is stopping, try again when it is back.",
  });
}
