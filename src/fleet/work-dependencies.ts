/** What an item of work waits for, and whether two would wait for one another. Pure. */
import { ReeveError } from "../platform/reeve-error.ts";
import type { WorkItem } from "./work.ts";

/** The dependencies of an item by its id; an item that is not known has none. */
export type DependenciesOf = (workId: string) => readonly string[];

/**
 * The ids on the way from this item back to itself, where these were its
 * dependencies: it first and last. Null where there is no such way.
 */
export function cycleThrough(
  workId: string,
  dependencies: readonly string[],
  dependenciesOf: DependenciesOf,
): readonly string[] | null {
  // Each is reached once; `from` says by which way.
  const from = new Map<string, string>();
  const waiting: (readonly [string, string])[] = dependencies.map((id) => [id, workId] as const);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [id, before] = next;
    if (id === workId) return wayTo(before, workId, from);
    if (from.has(id)) continue;
    from.set(id, before);
    for (const further of dependenciesOf(id)) waiting.push([further, id]);
  }
  return null;
}

function wayTo(last: string, workId: string, from: ReadonlyMap<string, string>): readonly string[] {
  const way = [workId];
  for (let id: string | undefined = last; id !== undefined && id !== workId; id = from.get(id)) way.unshift(id);
  return [workId, ...way];
}

export function cycleError(cycle: readonly string[]): ReeveError {
  const [first = "", second = ""] = cycle;
  return new ReeveError({
    code: "dependency-cycle",
    kind: "usage",
    message:
      first === second
        ? `${first} cannot depend on itself; leave it out of its dependencies.`
        : `${cycle.join(" waits for ")}: none of them could ever begin. Leave ${second} out of the dependencies of ${first}.`,
    details: { cycle },
  });
}

/** It is to be given out, and these are not done. */
export function dependenciesError({ id }: Pick<WorkItem, "id">, unmet: readonly string[]): ReeveError {
  const [first = ""] = unmet;
  const named = unmet.length === 1 ? first : `${unmet.length} other items (${unmet.slice(0, 5).join(", ")})`;
  return new ReeveError({
    code: "dependencies-open",
    kind: "conflict",
    message: `${id} waits for ${named}, which must be done first; see reeve work show ${first}.`,
    details: { waits_for: unmet.slice(0, 100) },
  });
}
