/**
 * Gathers the world that next-work decides by (fleet/work-world.ts): the open
 * items with what they depend on, their workers, what git says of their
 * checkouts, and which agents can be started. It changes nothing. `next_work` and
 * the dispatcher both use it.
 */
import type { Parked } from "../../fleet/parked.ts";
import { isClosed as isReached, type Quota } from "../../fleet/quota.ts";
import { type AgentFacts, NO_LIMITS, type World } from "../../fleet/work-world.ts";
import { isClosed, type WorkItem } from "../../fleet/work.ts";
import { type AroundWorker, isBusy, type WorkerFacts, workerFacts } from "../../fleet/worker-facts.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Session } from "../../session/session.ts";
import type { Store } from "../../store/contract.ts";
import type { WorkBook } from "../ledger/work-book.ts";

export interface WorldSources {
  readonly store: {
    readonly registry: Pick<Store["registry"], "get">;
    readonly mailbox: Pick<Store["mailbox"], "open">;
  };
  readonly work: Pick<WorkBook, "open" | "get">;
  readonly clock: Pick<Clock, "now">;
  readonly quotas: () => readonly Quota[];
  about(session: Session): Pick<AroundWorker, "wait" | "hidesFirstTurn" | "git"> & { readonly parked: Parked | null };
  gitNow(session: Session): Promise<WorkerFacts["git"]>;
  /** Why this agent cannot be started, in a sentence; null: it can. */
  problemOf(agent: string): Promise<string | null>;
}

export interface AskedWorld extends Partial<Pick<World, "limits" | "reusable" | "self">> {
  /** One item: nobody asks git about the others. Null: the queue. */
  readonly workId: string | null;
  /** Items that are left out. */
  readonly isHidden?: (item: WorkItem) => boolean;
}

export async function worldOf(sources: WorldSources, asked: AskedWorld): Promise<World> {
  const { workId, isHidden = () => false } = asked;
  const { work, clock } = sources;
  const open = work.open().filter((item) => item.id === workId || !isHidden(item));
  const items = await withDependencies(work, open, workId);
  const about = open.filter(({ id }) => workId === null || id === workId);
  const reusable = asked.reusable ?? [];
  const named = new Set(
    [...items.values()].flatMap(({ sessions, flight }) => flight?.sessionId ?? sessions.at(-1) ?? []),
  );
  const workers = new Map<string, WorkerFacts>();
  for (const sessionId of [...named, ...reusable]) {
    const session = sources.store.registry.get(sessionId);
    if (session !== undefined) workers.set(sessionId, factsOf(sources, session));
  }
  await askGit(sources, about, workers);
  return {
    now: clock.now(),
    items,
    workers,
    agents: await agentsOf(sources, about),
    limits: asked.limits ?? NO_LIMITS,
    reusable,
    self: asked.self ?? null,
  };
}

/** What an item depends on is looked up even if it is over. */
async function withDependencies(
  work: WorldSources["work"],
  open: readonly WorkItem[],
  workId: string | null,
): Promise<ReadonlyMap<string, WorkItem>> {
  const items = new Map(open.map((item) => [item.id, item]));
  const wanted = new Set([...(workId === null ? [] : [workId]), ...open.flatMap(({ dependencies }) => dependencies)]);
  for (const id of wanted) {
    const item = items.get(id) ?? (await work.get(id));
    if (item !== undefined) items.set(id, item);
  }
  return items;
}

function factsOf({ store, about }: WorldSources, session: Session): WorkerFacts {
  const { wait, hidesFirstTurn, git, parked } = about(session);
  return workerFacts(session, {
    wait,
    hidesFirstTurn,
    git,
    hasMessages: store.mailbox.open(session.id).length > 0,
    parked: parked === null ? null : { until: parked.quota.gate.dueAt, text: parked.text },
  });
}

/** Where the commit or what is not committed decides: an old answer would approve what nobody has seen. */
async function askGit(
  { store, gitNow }: WorldSources,
  items: readonly WorkItem[],
  workers: Map<string, WorkerFacts>,
): Promise<void> {
  const deciding = items.filter(({ state }) => state === "in-progress" || state === "built" || state === "approved");
  const ids = new Set(deciding.flatMap(({ flight, sessions }) => flight?.sessionId ?? sessions.at(-1) ?? []));
  await Promise.all(
    [...ids].map(async (sessionId) => {
      const session = store.registry.get(sessionId);
      const worker = workers.get(sessionId);
      if (session === undefined || worker === undefined || worker.hasExited || isBusy(worker)) return;
      workers.set(sessionId, { ...worker, git: await gitNow(session) });
    }),
  );
}

async function agentsOf(sources: WorldSources, items: readonly WorkItem[]): Promise<ReadonlyMap<string, AgentFacts>> {
  const names = new Set(items.flatMap(({ agent, state }) => (agent === null || isClosed(state) ? [] : [agent])));
  const quotas = sources.quotas();
  const facts = await Promise.all(
    [...names].map(async (name): Promise<readonly [string, AgentFacts]> => [
      name,
      { problem: await sources.problemOf(name), parked: parkedAgent(name, quotas) },
    ]),
  );
  return new Map(facts);
}

/** Which account a new session draws on is not known before it starts: parked is an agent whose known accounts all are. */
function parkedAgent(agent: string, quotas: readonly Quota[]): AgentFacts["parked"] {
  const own = quotas.filter(({ account }) => account === agent || account.startsWith(`${agent} `));
  const closed = own.filter(isReached).filter(({ gate }) => gate.phase === "waiting");
  const accounts = new Set(own.map(({ account }) => account));
  for (const { account } of closed) accounts.delete(account);
  const first = closed.toSorted((one, other) => one.gate.dueAt - other.gate.dueAt)[0];
  if (first === undefined || accounts.size > 0) return null;
  return { until: first.gate.dueAt, text: `a usage limit of ${first.account} is reached` };
}
