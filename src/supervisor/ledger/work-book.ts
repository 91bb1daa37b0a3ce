/**
 * The only writer of work items (fleet/work.ts). What happens to one item is done
 * one after another, and each change is one commit with its event. The open items
 * are kept in memory, as they are stored; the others are read when asked for.
 *
 * An item is given to a worker in the commit that starts the worker, or that
 * admits the message which gives it the item (`give`): a kill leaves both or
 * neither, so nobody works on an item that is still pending, and no item waits for
 * a worker that was never started.
 */
import { type ChangedBy, changedWork, type WorkChange } from "../../fleet/work-change.ts";
import { cycleError, cycleThrough, dependenciesError } from "../../fleet/work-dependencies.ts";
import { type AtWork, type MostWorkers, requireRoomFor } from "../../fleet/work-limits.ts";
import { addedWork, isClosed, type NewWork, type WorkItem, workKind } from "../../fleet/work.ts";
import type { Clock } from "../../platform/clock.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { createKeyedQueue } from "../../platform/keyed-queue.ts";
import type { Log } from "../../platform/log.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import { type Caller, callerName, signature, SYSTEM } from "../../session/caller.ts";
import type { Records, Store } from "../../store/contract.ts";
import type { Alongside, Wish } from "./ledger.ts";

export interface WorkBook {
  readonly records: Records<WorkItem>;
  /** All that is not done, failed or cancelled, in no particular order. */
  open(): readonly WorkItem[];
  get(workId: string): Promise<WorkItem | undefined>;
  /** Throws where a dependency is not known. */
  add(work: NewWork, wish: Wish): Promise<WorkItem>;
  /**
   * The item as it is then, also where it was so before. Throws what is not
   * possible. What to change may be decided when it is its turn; null: nothing.
   */
  change(workId: string, change: WorkChange | Decide, wish: Wish): Promise<WorkItem>;
  /** Its dependencies that are not done. */
  unmet(item: WorkItem): Promise<readonly string[]>;
  /** Throws why this item cannot be given to such a worker now. */
  requireGivable(item: WorkItem, worker: AtWork): Promise<void>;
  /** Gives it to a worker: `commit` makes the one commit that does both. */
  give<Result>(
    workId: string,
    taker: Taker,
    caller: Caller,
    commit: (alongside: Alongside) => Promise<Result>,
  ): Promise<Result>;
  /** The item that this session works on. */
  of(sessionId: string): WorkItem | undefined;
  /** All that have an item, or are just being given one. */
  atWork(): readonly AtWork[];
  /** Does this while the session can be given no item; throws where it has one. */
  whileFree<Result>(sessionId: string, task: () => Promise<Result>): Promise<Result>;
  /** Called with each item that was added or changed, after the commit. */
  follow(listener: (item: WorkItem) => void): void;
  /** At the start of the daemon. */
  load(): Promise<void>;
  idle(): Promise<void>;
}

type Decide = (item: WorkItem) => Exclude<WorkChange, { readonly type: "edit" }> | null;

/** Who takes an item. */
export interface Taker {
  readonly sessionId: string;
  readonly worker: AtWork;
  /** Turns that it has begun so far. Throws what keeps it from taking this item. */
  turnsBefore(item: WorkItem): number;
}

/** The key of all changes of dependencies: two that are made at once could close a circle. */
const DEPENDENCIES = "dependencies";

export function createWorkBook(parts: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly most: MostWorkers;
}): WorkBook {
  const { store, clock, log } = parts;
  const records = store.records(workKind);
  const open = new Map<string, WorkItem>();
  const workers = new Map<string, string>();
  const queue = createKeyedQueue();
  const listeners: ((item: WorkItem) => void)[] = [];
  /** Items that are just being given out, by id: two at once must not exceed a limit together. */
  const taking = new Map<string, AtWork>();

  function keep(item: WorkItem): void {
    const before = open.get(item.id)?.flight?.sessionId;
    if (before !== undefined && workers.get(before) === item.id) workers.delete(before);
    if (item.flight !== null) workers.set(item.flight.sessionId, item.id);
    if (isClosed(item.state)) open.delete(item.id);
    else open.set(item.id, item);
  }

  function tell(item: WorkItem): void {
    keep(item);
    for (const listener of listeners) listener(item);
  }

  const get = async (workId: string): Promise<WorkItem | undefined> => open.get(workId) ?? records.get(workId);

  /** But for this one. */
  function atWork(exceptId?: string): readonly AtWork[] {
    const flying = [...workers].flatMap(([sessionId, workId]) => {
      const session = workId === exceptId || taking.has(workId) ? undefined : store.registry.get(sessionId);
      return session === undefined ? [] : [{ agent: session.identity.agent, role: session.identity.role }];
    });
    return [...flying, ...[...taking].flatMap(([workId, worker]) => (workId === exceptId ? [] : [worker]))];
  }

  async function require(workId: string): Promise<WorkItem> {
    const item = await get(workId);
    if (item === undefined) throw unknownWork(workId);
    return item;
  }

  async function unmet({ dependencies }: WorkItem): Promise<readonly string[]> {
    const states = await Promise.all(dependencies.map(async (id) => ({ id, state: (await get(id))?.state })));
    return states.filter(({ state }) => state !== "done").map(({ id }) => id);
  }

  async function requireGivable(item: WorkItem, worker: AtWork): Promise<void> {
    // Whoever takes it, the table decides by its state.
    changedWork(item, { type: "begin", flight: { sessionId: "", turnsBefore: 0 } }, by(SYSTEM));
    const waitsFor = await unmet(item);
    if (waitsFor.length > 0) throw dependenciesError(item, waitsFor);
    requireRoomFor(parts.most, atWork(item.id), worker);
  }

  async function requireAcyclic(workId: string, dependencies: readonly string[]): Promise<void> {
    const known = new Map<string, readonly string[]>();
    for (const id of dependencies) await require(id);
    const waiting = [...dependencies];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      if (known.has(id)) continue;
      const item = await get(id);
      known.set(id, item?.dependencies ?? []);
      waiting.push(...(item?.dependencies ?? []));
    }
    const cycle = cycleThrough(workId, dependencies, (id) => known.get(id) ?? []);
    if (cycle !== null) throw cycleError(cycle);
  }

  const by = (caller: Caller): ChangedBy => ({ by: callerName(caller), at: clock.now() });

  return {
    records,
    get,
    open: () => [...open.values()],
    of(sessionId) {
      const workId = workers.get(sessionId);
      return workId === undefined ? undefined : open.get(workId);
    },

    atWork: () => atWork(),
    whileFree: (sessionId, task) =>
      queue.run(workerKey(sessionId), async () => {
        const workId = workers.get(sessionId);
        if (workId !== undefined) throw isBusy(sessionId, workId);
        return await task();
      }),

    async add(work, { caller, idempotency }) {
      for (const id of work.dependencies) await require(id);
      const item = addedWork(work);
      const { id: workId, title, priority } = item;
      failpoint("work-add.before-commit");
      await store.commit({
        changes: [workKind.put(item)],
        events: [{ sessionId: null, ...signature(caller), body: { type: "work-added", workId, title, priority } }],
        ...(idempotency === undefined ? {} : { idempotency }),
      });
      failpoint("work-add.after-commit");
      tell(item);
      return item;
    },

    change(workId, change, { caller, idempotency }) {
      const make = (): Promise<WorkItem> =>
        queue.run(workId, async () => {
          const item = await require(workId);
          const decided = typeof change === "function" ? change(item) : change;
          if (decided?.type === "edit" && decided.fields.dependencies !== undefined)
            await requireAcyclic(workId, decided.fields.dependencies);
          const changed = decided === null ? null : changedWork(item, decided, by(caller));
          if (changed === null && idempotency === undefined) return item;
          failpoint(`work-${decided?.type}.before-commit`);
          await store.commit({
            ...(changed === null ? {} : committed(changed, caller)),
            ...(idempotency === undefined ? {} : { idempotency }),
          });
          failpoint(`work-${decided?.type}.after-commit`);
          if (changed === null) return item;
          tell(changed.item);
          return changed.item;
        });
      const isEdit = typeof change !== "function" && change.type === "edit";
      return isEdit ? queue.run(DEPENDENCIES, make) : make();
    },

    unmet,
    requireGivable,

    give: (workId, taker, caller, commit) =>
      // First the item, then the worker: two items are not given to one at the same time.
      queue.run(workId, () =>
        queue.run(workerKey(taker.sessionId), async () => {
          const item = await require(workId);
          const { sessionId } = taker;
          // It has the item already: what was to be given with it goes on without.
          if (item.flight?.sessionId === sessionId) return commit({ changes: [], events: [] });
          const other = workers.get(sessionId);
          if (other !== undefined) throw isBusy(sessionId, other);
          const flight = { sessionId, turnsBefore: taker.turnsBefore(item) };
          const changed = changedWork(item, { type: "begin", flight }, by(caller));
          await requireGivable(item, taker.worker);
          // Once more: nothing may come between this look and the note that one more has an item.
          requireRoomFor(parts.most, atWork(workId), taker.worker);
          taking.set(workId, taker.worker);
          try {
            const result = await commit(changed === null ? { changes: [], events: [] } : committed(changed, caller));
            if (changed !== null) tell(changed.item);
            return result;
          } finally {
            taking.delete(workId);
          }
        }),
      ),

    follow: (listener) => void listeners.push(listener),

    async load() {
      for (const group of await records.groups("open/"))
        // Items that cannot be read must not hide the others.
        await records.list(group).then(
          (items) => items.forEach(keep),
          (error: unknown) => log("items of work could not be read", { group, why: error }),
        );
    },

    idle: () => queue.idle(),
  };
}

function workerKey(sessionId: string): string {
  return `worker ${sessionId}`;
}

function committed({ item, event }: NonNullable<ReturnType<typeof changedWork>>, caller: Caller): Alongside {
  const sessionId = event.type === "work-changed" ? event.worker : null;
  return { changes: [workKind.put(item)], events: [{ sessionId, ...signature(caller), body: event }] };
}

export function unknownWork(workId: string): ReeveError {
  return new ReeveError({
    code: "unknown-work",
    kind: "not-found",
    message: `There is no work item ${workId}; see reeve work list.`,
  });
}

function isBusy(sessionId: string, workId: string): ReeveError {
  return new ReeveError({
    code: "worker-busy",
    kind: "conflict",
    message: `Session ${sessionId} works on ${workId} already; wait until that is built, or take another session.`,
    details: { work_id: workId },
  });
}
