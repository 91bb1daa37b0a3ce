/**
 * Notices within a second that another branch is checked out where a session
 * works. It watches the directory in which git keeps HEAD, one watch for all
 * sessions of a checkout, and reads HEAD when that was replaced; git is not
 * run. Where the directory cannot be watched (the machine has no watches left)
 * HEAD is read at every interval instead.
 */
import { basename, join } from "node:path";
import type { Clock } from "../../platform/clock.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Log } from "../../platform/log.ts";
import { errnoOf, messageOf } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { FileChange, FileWatch, SessionFiles } from "../../runtime/session-files.ts";
import { GONE, isSameHead, type SeenHead } from "../../session/checkout.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Scheduler } from "../ledger/scheduler.ts";
import { gitDirOf, leftFor, readHead } from "../launch/checkout-files.ts";
import { checkoutKey, type CheckoutStatus } from "./checkout-status.ts";
import type { Watcher } from "./watcher.ts";

/** Git replaces several files in a row, mostly within this. */
const SETTLES_MS = 100;
/** Two looks are at least so far apart: what flaps is told twice in a second, and what changed once well within one. */
const APART_MS = 500;
/** Of the log of HEAD; a rebase of some hundred commits. */
const MOST_LOG_BYTES = 65_536;

/** What tells in the directory that HEAD may have moved, */
const HEAD_FILES = new Set(["HEAD", "rebase-merge", "rebase-apply", "BISECT_START"]);
/** and that something was committed, staged or fetched. */
const STATUS_FILES = new Set(["index", "HEAD.lock", "FETCH_HEAD", ...HEAD_FILES]);

interface Watched {
  readonly key: string;
  readonly root: string;
  readonly files: SessionFiles;
  readonly sessions: Set<string>;
  gitDir: string | null;
  watch: FileWatch | null;
  /** How much of the log of HEAD has been read; null: nothing yet. */
  logEnd: number | null;
  /** Monotonic. */
  lookedAt: number;
  /** It was said that it cannot be watched. */
  isUnwatchable: boolean;
  isStopped: boolean;
}

export function createCheckoutWatch(parts: {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly runtime: (kind: string) => Pick<Runtime, "files">;
  readonly status: Pick<CheckoutStatus, "notice">;
  readonly clock: Clock;
  readonly scheduler: Scheduler;
  readonly log: Log;
  readonly intervalMs: number;
}): Watcher {
  const { store, clock, scheduler } = parts;
  const watched = new Map<string, Watched>();
  const bySession = new Map<string, Watched>();
  const queue = createKeyedQueue();

  /** A new watch, and a look at what happened before it. */
  async function follow(checkout: Watched): Promise<void> {
    checkout.watch?.close();
    checkout.watch = null;
    try {
      checkout.gitDir = await gitDirOf(checkout.files, checkout.root);
      if (checkout.gitDir !== null && !checkout.isStopped) {
        const watch = await checkout.files.watch(checkout.gitDir, (change) => heard(checkout, change));
        if (checkout.isStopped) return watch.close();
        checkout.watch = watch;
      }
    } catch (error) {
      if (errnoOf(error) !== "ENOENT" && !checkout.isUnwatchable) {
        checkout.isUnwatchable = true;
        const why = messageOf(error);
        parts.log("a checkout cannot be watched, and is looked at now and then instead", { root: checkout.root, why });
      }
    }
    if (checkout.watch === null) followAfter(checkout, parts.intervalMs);
    await look(checkout);
  }

  function followAfter(checkout: Watched, ms: number): void {
    if (!checkout.isStopped) scheduler.atMost(null, `watch ${checkout.key}`, ms, () => again(checkout));
  }

  function again(checkout: Watched): void {
    if (!checkout.isStopped) void queue.run(checkout.key, () => follow(checkout));
  }

  function heard(checkout: Watched, change: FileChange): void {
    if (checkout.isStopped) return;
    // The directory itself was moved or removed, perhaps for another one in its place.
    const isLost = change.type === "lost" || change.name === basename(checkout.gitDir ?? "");
    if (isLost) return followAfter(checkout, SETTLES_MS);
    const { name } = change;
    if (name === null || STATUS_FILES.has(name)) parts.status.notice(checkout.key);
    if (name === null || HEAD_FILES.has(name)) lookSoon(checkout);
  }

  function lookSoon(checkout: Watched): void {
    const ms = Math.max(SETTLES_MS, checkout.lookedAt + APART_MS - clock.monotonic());
    scheduler.atMost(null, `look at ${checkout.key}`, ms, () => void queue.run(checkout.key, () => look(checkout)));
  }

  async function look(checkout: Watched): Promise<void> {
    if (checkout.isStopped) return;
    checkout.lookedAt = clock.monotonic();
    try {
      const head = await headOf(checkout);
      if (head === null) return;
      const moves = await newMoves(checkout);
      for (const sessionId of checkout.sessions) await tell(checkout, sessionId, head, moves);
    } catch (error) {
      parts.log("a checkout could not be looked at", { root: checkout.root, why: messageOf(error) });
    }
  }

  /** Null: it is there, and cannot be read. */
  async function headOf({ files, root, gitDir }: Watched): Promise<SeenHead | null> {
    if (gitDir === null) return (await files.stat(join(root, ".git"))) === null ? GONE : null;
    const head = await readHead(files, gitDir);
    return head ?? ((await files.stat(join(gitDir, "HEAD"))) === null ? GONE : null);
  }

  /** The lines that the log of HEAD gained since the last look; nothing where it was begun anew. */
  async function newMoves(checkout: Watched): Promise<readonly string[]> {
    if (checkout.gitDir === null) return [];
    const path = join(checkout.gitDir, "logs", "HEAD");
    const size = (await checkout.files.stat(path))?.size ?? 0;
    const since = checkout.logEnd;
    checkout.logEnd = size;
    if (since === null || size <= since) return [];
    const tail = await checkout.files.readTail(path, { bytes: MOST_LOG_BYTES, since });
    checkout.logEnd = tail.end;
    return tail.lines;
  }

  async function tell(checkout: Watched, sessionId: string, head: SeenHead, moves: readonly string[]): Promise<void> {
    const session = store.registry.get(sessionId);
    if (session === undefined) return;
    const known = session.checkout.head;
    const { branch } = session.identity;
    const isSame = known !== null && isSameHead(known, head);
    const left = isSame && branch !== null && branch === head.branch ? leftFor(branch, moves) : null;
    if (left !== null) await seen(session, checkout, left, `the log of HEAD in ${checkout.gitDir}`);
    if (!isSame || left !== null) await seen(session, checkout, head, `HEAD in ${checkout.gitDir ?? checkout.root}`);
  }

  async function seen(session: Session, { root }: Watched, head: SeenHead, detail: string): Promise<void> {
    const { incarnation } = session.process;
    const evidence = { source: "supervisor", detail, at: clock.now() } as const;
    await parts.ledger.apply(session.id, { type: "checkout-seen", incarnation, root, head, evidence });
  }

  function stop(sessionId: string): void {
    const checkout = bySession.get(sessionId);
    if (checkout === undefined) return;
    bySession.delete(sessionId);
    checkout.sessions.delete(sessionId);
    if (checkout.sessions.size > 0) return;
    watched.delete(checkout.key);
    checkout.isStopped = true;
    checkout.watch?.close();
    scheduler.cancel(null, `look at ${checkout.key}`);
    scheduler.cancel(null, `watch ${checkout.key}`);
  }

  function begin(session: Session, root: string): void {
    const { runtime: kind } = session.identity;
    const key = checkoutKey(kind, root);
    const known = watched.get(key);
    const checkout: Watched = known ?? {
      key,
      root,
      files: parts.runtime(kind).files,
      sessions: new Set(),
      gitDir: null,
      watch: null,
      logEnd: null,
      lookedAt: Number.NEGATIVE_INFINITY,
      isUnwatchable: false,
      isStopped: false,
    };
    checkout.sessions.add(session.id);
    bySession.set(session.id, checkout);
    watched.set(key, checkout);
    if (known === undefined) again(checkout);
    else lookSoon(checkout);
  }

  return {
    attend(session) {
      const { root } = session.checkout;
      if (root === (bySession.get(session.id)?.root ?? null)) return;
      stop(session.id);
      if (root !== null) begin(session, root);
    },
    async leave(session) {
      stop(session.id);
    },
    async close() {
      for (const sessionId of bySession.keys()) stop(sessionId);
      await queue.idle();
    },
  };
}
