/** For tests only: the queue of work with its keeper over a real store, sessions that die, and daemons that come and go. */
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import { type MostWorkers, UNLIMITED } from "../../fleet/work-limits.ts";
import { newWork } from "../../fleet/work-fixture.ts";
import { type NewWork, type WorkItem, workKind } from "../../fleet/work.ts";
import type { Amendment } from "../../session/amend.ts";
import { OPERATOR } from "../../session/caller.ts";
import type { EventBody } from "../../session/event.ts";
import { putSession } from "../../store/change.ts";
import type { Store } from "../../store/contract.ts";
import { makeHome, makeSession, nextRevision } from "../../store/store-fixture.ts";
import { createScheduler, type Scheduler } from "../ledger/scheduler.ts";
import { createWorkBook, type WorkBook } from "../ledger/work-book.ts";
import { createWorkKeeper, type WorkKeeper } from "./work-keeper.ts";

const WORKER = { agent: "practice", role: "agent" };

export interface WorkGround {
  readonly clock: TestClock;
  readonly store: Store;
  book(): WorkBook;
  keeper(): WorkKeeper;
  add(id: string, given?: Partial<NewWork>): Promise<WorkItem>;
  item(id: string): Promise<WorkItem>;
  /** A session that runs takes the item; both are one commit. */
  give(id: string, sessionId: string): Promise<void>;
  /** The session's record changes, and the keeper hears of it. */
  change(sessionId: string, changes: Amendment): Promise<void>;
  /** The next so many commits are refused, as on a full disk. */
  refuse(commits: number): void;
  events(): Promise<readonly EventBody[]>;
  /** The daemon is killed, and another one takes over: only the store is left. */
  restart(): Promise<void>;
  settled(): Promise<void>;
  dispose(): Promise<void>;
}

const evidence = { source: "runtime", detail: "seen in a test", at: 1 } as const;

export async function makeWorkGround(ids: readonly string[], most: MostWorkers = UNLIMITED): Promise<WorkGround> {
  const clock = makeTestClock();
  const home = makeHome();
  const opened = await home.open({ clock });
  let refusals = 0;
  const { log: events, registry, mailbox } = opened;
  const store: Store = {
    ...opened,
    log: events,
    registry,
    mailbox,
    records: opened.records.bind(opened),
    commit: async (what) => {
      if (refusals-- > 0) throw new Error("the disk is full");
      return await opened.commit(what);
    },
  };
  await opened.commit({ changes: ids.map((id) => putSession(runningWorker(home, id))) });
  let daemon = await begin();

  async function begin(): Promise<{
    readonly book: WorkBook;
    readonly keeper: WorkKeeper;
    readonly scheduler: Scheduler;
  }> {
    const { log } = home;
    const scheduler = createScheduler({ clock, log, observe: async () => undefined });
    const book = createWorkBook({ store, clock, log, most });
    const keeper = createWorkKeeper({ work: book, registry, scheduler, log, onFailed: () => undefined });
    await book.load();
    await keeper.load();
    keeper.start();
    return { book, keeper, scheduler };
  }

  const ground: WorkGround = {
    clock,
    store,
    book: () => daemon.book,
    keeper: () => daemon.keeper,
    add: (id, given = {}) => daemon.book.add(newWork({ id, ...given }), { caller: OPERATOR }),
    async item(id) {
      const item = await store.records(workKind).get(id);
      if (item === undefined) throw new Error(`there is no item ${id}`);
      return item;
    },
    give: (id, sessionId) =>
      daemon.book.give(
        id,
        { sessionId, worker: WORKER, turnsBefore: () => 0 },
        OPERATOR,
        async ({ changes, events: told }) => {
          await store.commit({ changes, events: told });
        },
      ),
    async change(sessionId, changes) {
      const session = registry.get(sessionId);
      if (session === undefined) throw new Error(`there is no session ${sessionId}`);
      await opened.commit({ changes: [putSession(nextRevision(session, changes))] });
      daemon.keeper.attend(sessionId);
    },
    refuse: (commits) => void (refusals = commits),
    events: async () => (await events.read({ after: 0, limit: 100_000 })).map(({ body }) => body),
    async restart() {
      daemon.scheduler.close();
      await daemon.book.idle();
      daemon = await begin();
      await daemon.book.idle();
    },
    settled: () => daemon.book.idle(),
    async dispose() {
      daemon.scheduler.close();
      await daemon.book.idle();
      await home.remove();
    },
  };
  return ground;
}

function runningWorker(home: { readonly outputsRoot: string }, id: string) {
  return makeSession(home, id, {
    state: "running",
    identity: { name: id, agent: "practice", hasTurns: true },
    process: { incarnation: 1, liveness: { status: "running", evidence } },
  });
}

/** Killed, and nothing starts it again. */
export const killed: Amendment = {
  state: "error",
  reason: { code: "killed", text: "Its process was killed by SIGKILL.", evidence },
  process: { exit: { code: null, signal: "SIGKILL", at: 2 }, endedAt: 2 },
};

/** It runs again. */
export const revived: Amendment = { state: "running", process: { exit: null, endedAt: null } };
