/**
 * Removes what is kept no longer (fleet/retention.ts): soon after the start,
 * then every hour, and when somebody asks. It works in small steps and lets
 * others work after each. One run at a time.
 */
import { choose, type Choice, RECORD_RULES, vetoOf } from "../../fleet/retention.ts";
import type { RetentionSettings } from "../../fleet/retention-settings.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import { messageOf } from "../../platform/reeve-error.ts";
import { SYSTEM, type Caller } from "../../session/caller.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Post } from "../ledger/post.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { oldEvents } from "./event-removal.ts";
import { oldRecords } from "./record-removal.ts";
import { createSessionDirectories } from "./session-directory.ts";
import { createSessionFacts, type FactParts, lookAround } from "./session-facts.ts";
import { createSessionRemoval } from "./session-removal.ts";

export interface Pruner {
  /** Before requests are taken: finishes what the daemon before had begun. */
  recover(): Promise<void>;
  start(): void;
  run(request: PruneRequest): Promise<Pruned>;
  close(): Promise<void>;
}

export interface PruneRequest {
  readonly settings: RetentionSettings;
  /** Only says what would be done. */
  readonly isDry: boolean;
  readonly caller: Caller;
}

export interface Pruned extends Choice {
  /** Those that went: one that changed in the meantime stays. */
  readonly sessions: number;
  readonly bytes: number;
  readonly events: number;
  readonly mails: number;
  readonly workItems: number;
  /** What the database gave back to the disk. */
  readonly compactedBytes: number;
}

/** Well after a start: nobody waits for it. */
const FIRST_AFTER_MS = 60_000;
const EVERY_MS = 3_600_000;
/** Sessions that are removed side by side: their commits share a transaction. */
const SESSIONS_AT_ONCE = 16;

export interface PrunerParts extends Omit<FactParts, "directories" | "mail"> {
  readonly store: Store;
  readonly ledger: Pick<Ledger, "alone" | "note">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly mail: Pick<Post, "unread" | "unreadMails" | "change">;
  readonly outputsRoot: string;
  readonly settings: RetentionSettings;
  /** Ids of records that are over themselves, and on which something builds that is open. */
  readonly needed: () => ReadonlySet<string>;
  /** Before anything of it goes: nobody writes to its directory once this resolves. */
  readonly onRemoving?: (session: Session) => Promise<void>;
  /** Nothing of it is needed in memory any more. */
  readonly onRemoved: (sessionId: string) => void;
}

export function createPruner(parts: PrunerParts): Pruner {
  const { store, ledger, clock, scheduler, log, mail } = parts;
  const directories = createSessionDirectories(parts.outputsRoot);
  const facts = createSessionFacts({ ...parts, directories });
  const removal = createSessionRemoval({ ...parts, directories });
  const queue = createKeyedQueue();
  let isClosed = false;

  /** Lets everything else go first; false: stop here. */
  const pause = async (): Promise<boolean> => {
    await new Promise((resolve) => setImmediate(resolve));
    return !isClosed;
  };

  async function removeSessions(choice: Choice, settings: RetentionSettings): Promise<readonly Choice["go"][number][]> {
    const gone: Choice["go"][number][] = [];
    for (let from = 0; from < choice.go.length; from += SESSIONS_AT_ONCE) {
      const around = await lookAround({ ...parts, directories });
      const some = choice.go.slice(from, from + SESSIONS_AT_ONCE).map(async (candidate) => {
        const isGone = await removal.remove(
          candidate.session,
          (session) => vetoOf(session, facts.known(session, around), settings, clock.now()) !== null,
        );
        if (!isGone) return;
        gone.push(candidate);
        await forget(candidate.session.id);
      });
      for (const result of await Promise.allSettled(some)) if (result.status === "rejected") throw result.reason;
      if (!(await pause())) break;
    }
    return gone;
  }

  /** Nobody can read its mail any more: it is put away, and goes with other mail when its time comes. */
  async function forget(sessionId: string): Promise<void> {
    facts.forget(sessionId);
    for (const { mailId } of mail.unreadMails(sessionId)) await mail.change(mailId, "archive", SYSTEM);
    parts.onRemoved(sessionId);
  }

  async function prune({ settings, isDry, caller }: PruneRequest): Promise<Pruned> {
    await store.verified;
    if (!isDry) await removal.finishLeft("all");
    const now = clock.now();
    const around = await lookAround({ ...parts, directories });
    const choice = choose(await facts.candidates(around, settings, now, pause), settings, now);
    const gone = isDry ? choice.go : await removeSessions(choice, settings);
    const run = { now, remove: !isDry, needed: parts.needed(), pause };
    const events = await oldEvents(store, around, settings, run);
    const mails = await oldRecords(store, RECORD_RULES.mails, settings, run);
    const workItems = await oldRecords(store, RECORD_RULES.workItems, settings, run);
    const compactedBytes = isDry ? 0 : await store.compact();
    const bytes = gone.reduce((sum, one) => sum + one.bytes, 0);
    const counts = { sessions: gone.length, events: events.count, mails, workItems, bytes };
    if (!isDry && counts.sessions + counts.events + mails + workItems > 0)
      await ledger.note({ type: "pruned", ...counts, prunedThrough: store.log.prunedThrough() }, caller);
    return { ...choice, go: gone, ...counts, compactedBytes };
  }

  const run = (request: PruneRequest): Promise<Pruned> => queue.run("prune", () => prune(request));

  function later(ms: number): void {
    scheduler.after(null, "prune", ms, () => {
      run({ settings: parts.settings, isDry: false, caller: SYSTEM })
        .catch((error: unknown) => log("removing what is old failed, trying again later", { why: messageOf(error) }))
        .finally(() => later(EVERY_MS));
    });
  }

  return {
    recover: () => removal.finishLeft("records-only"),
    start() {
      if (parts.settings.isEnabled) later(FIRST_AFTER_MS);
    },
    run,
    async close() {
      isClosed = true;
      await queue.idle();
    },
  };
}
