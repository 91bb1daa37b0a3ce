/**
 * Looks after items of work whose worker is gone: each goes back to the queue
 * with the reason, or fails after its last attempt. It decides from the
 * session's record alone, when that changes and once for all flights when the
 * daemon starts, so a daemon that was killed anywhere does the same later. For
 * the inbox it keeps which items failed.
 */
import type { Due } from "../../fleet/inbox-condition.ts";
import { workCondition } from "../../fleet/work-condition.ts";
import { endOfFlight } from "../../fleet/work-worker.ts";
import { groupOf, type WorkItem } from "../../fleet/work.ts";
import type { Log } from "../../platform/log.ts";
import { SYSTEM } from "../../session/caller.ts";
import type { Registry } from "../../store/contract.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import type { WorkBook } from "../ledger/work-book.ts";

export interface WorkKeeper {
  /** At the start of the daemon: which items failed. */
  load(): Promise<void>;
  /** From now on items are returned, first those whose workers the last daemon left dead. */
  start(): void;
  /** Its record changed. */
  attend(sessionId: string): void;
  /** Failed items, for the operator; null until they were read. */
  conditions(): readonly Due[] | null;
}

/** A commit fails while the disk is full, say. */
const TRY_AGAIN_MS = 10_000;

export function createWorkKeeper(parts: {
  readonly work: Pick<WorkBook, "of" | "open" | "change" | "follow" | "records">;
  readonly registry: Pick<Registry, "get">;
  readonly scheduler: Pick<Scheduler, "after">;
  readonly log: Log;
  /** What is in the inbox about items may have changed. */
  readonly onFailed: () => void;
}): WorkKeeper {
  const { work, registry, scheduler, log } = parts;
  const failed = new Map<string, Due>();
  let isLoaded = false;
  let isStarted = false;

  function note(item: WorkItem): void {
    const condition = workCondition(item);
    const isNews = condition === null ? failed.delete(item.id) : true;
    if (condition !== null) failed.set(item.id, { condition });
    if (isNews) parts.onFailed();
  }

  function attend(sessionId: string): void {
    const item = work.of(sessionId);
    const session = isStarted && item !== undefined ? registry.get(sessionId) : undefined;
    if (item === undefined || session === undefined || endOfFlight(session) === null) return;
    // Asked again when it is its turn: the worker may have been restarted, or the item given to another.
    const decide = ({ flight }: WorkItem) => {
      const now = flight?.sessionId === sessionId ? registry.get(sessionId) : undefined;
      return now === undefined ? null : endOfFlight(now);
    };
    work.change(item.id, decide, { caller: SYSTEM }).catch((error: unknown) => {
      log("an item of work could not be returned, trying again", { item: item.id, session: sessionId, why: error });
      scheduler.after(sessionId, "work", TRY_AGAIN_MS, () => attend(sessionId));
    });
  }

  work.follow((item) => {
    note(item);
    if (item.flight !== null) attend(item.flight.sessionId);
  });

  return {
    attend,
    async load() {
      try {
        for (const item of await work.records.list(groupOf("failed"))) note(item);
      } finally {
        // If they cannot be read, the inbox still tells of everything else.
        isLoaded = true;
        parts.onFailed();
      }
    },
    start() {
      isStarted = true;
      for (const { flight } of work.open()) if (flight !== null) attend(flight.sessionId);
    },
    conditions: () => (isLoaded ? [...failed.values()] : null),
  };
}
