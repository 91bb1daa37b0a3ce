import fc from "fast-check";
import { expect, test } from "vitest";
import { cycleError, cycleThrough, dependenciesError } from "./work-dependencies.ts";

type Graph = Readonly<Record<string, readonly string[]>>;
const IDS = ["a", "b", "c", "d", "e", "f"];
const graph: fc.Arbitrary<Graph> = fc
  .array(fc.subarray(IDS), { minLength: IDS.length, maxLength: IDS.length })
  .map((lists) => Object.fromEntries(IDS.map((id, index) => [id, lists[index] ?? []])));

/** Follows every way to its end, however long that takes. */
function reaches(graph: Graph, from: string, to: string, seen: readonly string[] = []): boolean {
  return (graph[from] ?? []).some(
    (next) => next === to || (!seen.includes(next) && reaches(graph, next, to, [...seen, next])),
  );
}

test("a circle is found if and only if there is one, and the way that is told is one", () => {
  fc.assert(
    fc.property(graph, fc.constantFrom(...IDS), fc.subarray(IDS), (known, id, dependencies) => {
      const changed = { ...known, [id]: dependencies };
      const cycle = cycleThrough(id, dependencies, (other) => known[other] ?? []);
      expect(cycle !== null).toBe(reaches(changed, id, id));
      if (cycle === null) return;
      expect([cycle[0], cycle.at(-1)]).toEqual([id, id]);
      for (const [index, one] of cycle.slice(0, -1).entries()) expect(changed[one]).toContain(cycle[index + 1]);
    }),
  );
});

test("an item that is not known waits for nothing", () => {
  expect(cycleThrough("a", ["gone"], () => [])).toBeNull();
});

test("what to do is said", () => {
  expect(cycleError(["a", "a"]).message).toBe("a cannot depend on itself; leave it out of its dependencies.");
  expect(cycleError(["a", "b", "a"]).message).toBe(
    "a waits for b waits for a: none of them could ever begin. Leave b out of the dependencies of a.",
  );
  expect(dependenciesError({ id: "a" }, ["b", "c"]).message).toBe(
    "a waits for 2 other items (b, c), which must be done first; see reeve work show b.",
  );
});
