/** For tests only: a pruner over a real store, with real directories, at a time of day that the test sets. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InboxItem } from "../../src/fleet/inbox.ts";
import { defaultRetention, type RetentionSettings } from "../../src/fleet/retention-settings.ts";
import { type Worktree, worktreeKind } from "../../src/fleet/worktree.ts";
import { type Clock, systemClock } from "../../src/platform/clock.ts";
import { type Amendment, amend } from "../../src/session/amend.ts";
import { OPERATOR } from "../../src/session/caller.ts";
import type { Session } from "../../src/session/session.ts";
import { putSession } from "../../src/store/change.ts";
import { makeHome, makeSession, type TestHome } from "../../src/store/store-fixture.ts";
import type { Store } from "../../src/store/contract.ts";
import { createWaker, type Waker } from "../../src/supervisor/fleet/waker.ts";
import { createLedger, type Ledger } from "../../src/supervisor/ledger/ledger.ts";
import { createPost, type Post } from "../../src/supervisor/ledger/post.ts";
import { createReceipts } from "../../src/supervisor/ledger/receipts.ts";
import { createExports, type Exports } from "../../src/supervisor/story/exports.ts";
import { createScheduler } from "../../src/supervisor/ledger/scheduler.ts";
import { createPruner, type Pruned, type Pruner } from "../../src/supervisor/retention/pruner.ts";

export const DAY = 86_400_000;

/** Nothing that is over stays. */
export const EVERYTHING = { endedMs: 0, eventsMs: 0, mailMs: 0 } as const;

export interface PrunerGround {
  readonly home: TestHome;
  readonly store: Store;
  readonly pruner: Pruner;
  readonly ledger: Ledger;
  readonly post: Post;
  readonly waker: Waker;
  /** Live items of the inbox. */
  readonly items: Pick<InboxItem, "sessionId">[];
  /** By session: what open work refers to it. */
  readonly references: Map<string, string>;
  readonly exports: Exports;
  readonly needed: Set<string>;
  readonly removed: string[];
  now(): number;
  /** Time goes on. */
  pass(ms: number): void;
  /** A session that ended `ago`, with a directory. */
  end(id: string, ago: number, changes?: Amendment): Promise<Session>;
  live(id: string, changes?: Amendment): Promise<Session>;
  prune(settings?: Partial<RetentionSettings>, isDry?: boolean): Promise<Pruned>;
  /** The ids that are known, in order. */
  ids(): readonly string[];
  dispose(): Promise<void>;
}

export async function makePrunerGround(
  given: { readonly directory?: string; readonly reserveBytes?: number } = {},
): Promise<PrunerGround> {
  let passed = 0;
  const now = (): number => Date.now() + passed;
  const clock: Clock = { ...systemClock, now, moment: () => ({ ...systemClock.moment(), at: now() }) };
  const home = makeHome(given.directory);
  mkdirSync(home.outputsRoot, { recursive: true, mode: 0o700 });
  const { reserveBytes = 0 } = given;
  const store = await home.open({ clock, reserveBytes });
  const { log } = home;
  const scheduler = createScheduler({ clock, log, observe: async () => undefined });
  const ledger = createLedger({ store, clock, log, receipts: createReceipts() });
  const post = createPost({ store, clock, log });
  await post.load();
  const breaker = { isHeld: () => false, want: () => undefined };
  const waker = createWaker({
    store,
    ledger,
    clock,
    scheduler,
    log,
    mail: post,
    isEnabled: true,
    tellsRecovery: () => true,
    breaker,
  });
  const items: Pick<InboxItem, "sessionId">[] = [];
  const references = new Map<string, string>();
  const exports = createExports(ledger);
  const needed = new Set<string>();
  const removed: string[] = [];
  const pruner = createPruner({
    store,
    ledger,
    clock,
    scheduler,
    log,
    mail: post,
    inbox: { items: () => items as InboxItem[] },
    wakes: waker,
    worktrees: store.records(worktreeKind),
    referenced: [(id) => references.get(id) ?? null, exports.referenced],
    needed: () => needed,
    outputsRoot: home.outputsRoot,
    settings: defaultRetention,
    onRemoved: (id) => void removed.push(id),
  });

  async function put(session: Session): Promise<Session> {
    mkdirSync(join(session.identity.outputsDir, "spool"), { recursive: true, mode: 0o700 });
    writeFileSync(join(session.identity.outputsDir, "output.log"), `of ${session.id}\n`);
    const { name, agent, role } = session.identity;
    await store.commit({
      changes: [putSession(session)],
      events: [{ sessionId: session.id, body: { type: "session-planned", name, agent, role } }],
    });
    return session;
  }

  return {
    home,
    store,
    pruner,
    ledger,
    post,
    waker,
    items,
    references,
    exports,
    needed,
    removed,
    now,
    pass: (ms) => void (passed += ms),
    end: (id, ago, changes = {}) => put(amend(endedSession(home, id, now() - ago), changes)),
    live: (id, changes = {}) =>
      put(makeSession(home, id, { state: "running", process: { incarnation: 1 }, ...changes })),
    prune: (settings = {}, isDry = false) =>
      pruner.run({ settings: { ...defaultRetention, ...settings }, isDry, caller: OPERATOR }),
    ids: () => store.registry.all().map(({ id }) => id),
    async dispose() {
      scheduler.close();
      await pruner.close();
      await ledger.idle();
      await home.remove();
    },
  };
}

export function endedSession(home: { readonly outputsRoot: string }, id: string, at: number): Session {
  const evidence = { source: "operator", detail: "test", at } as const;
  return makeSession(home, id, {
    state: "stopped",
    reason: { code: "ended", text: "It was ended.", evidence },
    wish: { desired: "stopped" },
    process: { incarnation: 1, endedAt: at, exit: { code: 0, signal: null, at } },
  });
}

export function worktreeOf(sessionId: string): Worktree {
  return {
    id: `worktree-${sessionId}`,
    revision: 1,
    path: `/work/${sessionId}`,
    repository: "/work/.git",
    main: "/work",
    branch: `reeve/${sessionId}`,
    isBranchOurs: true,
    base: null,
    runtime: "tmux",
    paths: {},
    state: "ready",
    sessionId,
    request: null,
    createdAt: 1,
    saved: null,
  };
}
