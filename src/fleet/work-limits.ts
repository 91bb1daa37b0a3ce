/**
 * How many workers may have an item of work at the same time: on this machine, of
 * each agent and of each role. A worker that has built its item and waits for what
 * comes next does not count. Pure: the book of work asks before it gives an item
 * out (supervisor/ledger/work-book.ts), and next-work before it proposes that.
 */
import { ReeveError } from "../platform/reeve-error.ts";
import { type Limits, NO_LIMITS } from "./work-world.ts";

/** The table [work] of config.toml, and `most_workers` of agents and roles. */
export interface WorkSettings {
  readonly mostWorkers: number;
  /** How long a verification command may run. */
  readonly verifyTimeoutMs: number;
}

export const defaultWorkSettings: WorkSettings = { mostWorkers: 4, verifyTimeoutMs: 600_000 };

export interface MostWorkers {
  readonly machine: number | null;
  readonly byAgent: Readonly<Record<string, number>>;
  readonly byRole: Readonly<Record<string, number>>;
}

export const UNLIMITED: MostWorkers = { machine: null, byAgent: {}, byRole: {} };

/** A worker that has an item. */
export interface AtWork {
  readonly agent: string;
  readonly role: string;
}

/** The role of a session that was given none. */
const DEFAULT_ROLE = "agent";

/** Throws which limit keeps one more from beginning. */
export function requireRoomFor(most: MostWorkers, atWork: readonly AtWork[], { agent, role }: AtWork): void {
  const limits = [
    { where: "[work]", whose: "", most: most.machine, now: atWork.length },
    {
      where: `[agent.${agent}]`,
      whose: ` of agent ${agent}`,
      most: most.byAgent[agent],
      now: atWork.filter((one) => one.agent === agent).length,
    },
    {
      where: `[role.${role}]`,
      whose: ` of role ${role}`,
      most: most.byRole[role],
      now: atWork.filter((one) => one.role === role).length,
    },
  ];
  const reached = limits.find((limit) => typeof limit.most === "number" && limit.now >= limit.most);
  if (reached === undefined) return;
  const workers = reached.now === 1 ? "1 worker" : `${reached.now} workers`;
  throw new ReeveError({
    code: "too-many-workers",
    kind: "conflict",
    message: `${workers}${reached.whose} ${reached.now === 1 ? "has" : "have"} an item of work, and no more may; wait until one is done, or raise most_workers in ${reached.where} of config.toml.`,
    details: { most_workers: reached.most },
  });
}

/** What is left of the limits, as next-work takes it. */
export function leftOf(most: MostWorkers, atWork: readonly AtWork[]): Limits {
  const left = (limits: Readonly<Record<string, number>>, key: keyof AtWork): Record<string, number> =>
    Object.fromEntries(
      Object.entries(limits).map(([name, limit]) => [name, limit - atWork.filter((one) => one[key] === name).length]),
    );
  const byRole = left(most.byRole, "role");
  const unnamed = byRole[DEFAULT_ROLE];
  return {
    workers: most.machine === null ? NO_LIMITS.workers : most.machine - atWork.length,
    byAgent: left(most.byAgent, "agent"),
    // An item that asks for no role is done in this one.
    byRole: unnamed === undefined ? byRole : { ...byRole, "": unnamed },
  };
}

/** After one more worker was given an item. */
export function oneFewer(limits: Limits, agent: string, role: string | null): Limits {
  const less = (all: Readonly<Record<string, number>>, names: readonly string[]): Record<string, number> =>
    Object.fromEntries(Object.entries(all).map(([name, left]) => [name, names.includes(name) ? left - 1 : left]));
  const isDefault = role === null || role === DEFAULT_ROLE;
  return {
    workers: limits.workers === null ? null : limits.workers - 1,
    byAgent: less(limits.byAgent, [agent]),
    byRole: less(limits.byRole, isDefault ? ["", DEFAULT_ROLE] : [role]),
  };
}

export function parseWork(table: Readonly<Record<string, unknown>>): WorkSettings {
  const {
    most_workers: most,
    verify_timeout_seconds: seconds = defaultWorkSettings.verifyTimeoutMs / 1_000,
    ...others
  } = table;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw new Error(`there is no setting ${unknown} in [work]`);
  if (typeof seconds !== "number" || !(seconds >= 1 && seconds <= MOST_SECONDS))
    throw new Error(`[work] verify_timeout_seconds must be a number from 1 to ${MOST_SECONDS}`);
  return {
    mostWorkers: parseMostWorkers("[work]", most) ?? defaultWorkSettings.mostWorkers,
    verifyTimeoutMs: seconds * 1_000,
  };
}

const MOST_SECONDS = 86_400;
const MOST_WORKERS = 1_000;

/** Null: it is not said. */
export function parseMostWorkers(where: string, value: unknown): number | null {
  if (value === undefined) return null;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_WORKERS) return value;
  throw new Error(`${where} most_workers must be a whole number from 0 to ${MOST_WORKERS}`);
}
