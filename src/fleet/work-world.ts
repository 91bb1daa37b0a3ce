/** What next-work decides by: the items, the sessions that work on them, and what can be started. Plain data. */
import type { WorkerFacts } from "./worker-facts.ts";
import { isClosed, type WorkItem } from "./work.ts";

export interface World {
  readonly now: number;
  /** All open items, and what they depend on as far as it is known. */
  readonly items: ReadonlyMap<string, WorkItem>;
  /** Sessions by id: at least all that open items name. */
  readonly workers: ReadonlyMap<string, WorkerFacts>;
  /** Agents by name. One that is not here is not known. */
  readonly agents: ReadonlyMap<string, AgentFacts>;
  readonly limits: Limits;
  /** Ids of idle sessions that may be given another item. Whoever offers them looks after their end. */
  readonly reusable: readonly string[];
  /** The session that asks: it is never told to end itself. */
  readonly self: string | null;
}

export interface AgentFacts {
  /** Why it cannot be started, in a sentence; null: it can. */
  readonly problem: string | null;
  /** A usage limit of its account keeps everything from beginning. */
  readonly parked: { readonly until: number; readonly text: string } | null;
}

/** How many more workers may be started; null: any number. */
export interface Limits {
  readonly workers: number | null;
  readonly byAgent: Readonly<Record<string, number>>;
  readonly byRole: Readonly<Record<string, number>>;
}

export const NO_LIMITS: Limits = { workers: null, byAgent: {}, byRole: {} };

/** Whoever works on an item, or did so last. */
export function workerFor(world: World, item: WorkItem): WorkerFacts | undefined {
  const sessionId = item.flight?.sessionId ?? item.sessions.at(-1);
  return sessionId === undefined ? undefined : world.workers.get(sessionId);
}

/** The world with what is looked up often. */
export interface Situation extends World {
  /** The item that a session works on now, by session. */
  readonly flights: ReadonlyMap<string, string>;
  /** Sessions that built something which is not finalised yet: changes may still be asked of them. */
  readonly builders: ReadonlySet<string>;
}

export function situationOf(world: World): Situation {
  const flights = new Map<string, string>();
  const builders = new Set<string>();
  for (const { id, state, flight, sessions } of world.items.values()) {
    if (flight !== null) flights.set(flight.sessionId, id);
    const last = sessions.at(-1);
    if (last !== undefined && state !== "finalised" && !isClosed(state)) builders.add(last);
  }
  return { ...world, flights, builders };
}

/** It works on another item now. */
export function isElsewhere({ flights }: Situation, item: WorkItem, { sessionId }: WorkerFacts): boolean {
  const workId = flights.get(sessionId);
  return workId !== undefined && workId !== item.id;
}
