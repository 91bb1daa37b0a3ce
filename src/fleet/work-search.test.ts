import fc from "fast-check";
import { expect, test } from "vitest";
import { workItem } from "./work-fixture.ts";
import {
  closedGroups,
  isWanted,
  openPage,
  type WorkFilter,
  type WorkPage,
  workPage,
  workPageName,
} from "./work-search.ts";
import { inOrder, isClosed, WORK_STATES, type WorkItem } from "./work.ts";

const item = fc
  .record({ priority: fc.integer({ min: -3, max: 3 }), createdAt: fc.nat(4), id: fc.nat(99).map((n) => `work-${n}`) })
  .map((given) => workItem(given));
const items = fc.uniqueArray(item, { selector: ({ id }) => id, maxLength: 30 });

test("page after page is the whole list in order, whatever is added or done between", () => {
  fc.assert(
    fc.property(items, items, fc.integer({ min: 1, max: 5 }), (first, others, limit) => {
      const ids = new Set(first.map(({ id }) => id));
      const added = others.filter(({ id }) => !ids.has(id));
      const seen: WorkItem[] = [];
      let now: readonly WorkItem[] = first;
      let page: WorkPage | null = { open: null };
      while (page !== null && "open" in page) {
        const { items: shown, end } = openPage(now, page.open, limit);
        seen.push(...shown);
        page = end === null ? null : workPage(workPageName(end));
        expect(page === null).toBe(end === null);
        // Meanwhile one that was shown is done, and another one comes.
        now = [...now.filter(({ id }) => id !== shown[0]?.id), ...added.splice(0, 1)];
      }
      expect(seen).toEqual(seen.toSorted(inOrder));
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toEqual(expect.arrayContaining(first));
    }),
  );
});

test("a state, or all that are open or closed; closed ones are read from their groups", () => {
  const all = WORK_STATES.map((state) => workItem({ state }));
  const shown = (state: WorkFilter) => all.filter(isWanted({ state })).map((one) => one.state);
  expect(shown("all")).toEqual([...WORK_STATES]);
  expect(shown("open")).toEqual(WORK_STATES.filter((state) => !isClosed(state)));
  expect(shown("closed")).toEqual(["done", "failed", "cancelled"]);
  expect(shown("built")).toEqual(["built"]);
  expect(closedGroups({ state: "open" })).toEqual([]);
  expect(closedGroups({ state: "failed" })).toEqual(["closed/failed"]);
  expect(closedGroups({ state: "all" })).toEqual(["closed/done", "closed/failed", "closed/cancelled"]);
});

test("text is sought in title, body and result; the rest has to be the same", () => {
  const result = { text: "It parses", sessionId: "anna", by: "operator", at: 2 } as const;
  const one = workItem({ title: "Parser", body: "Lines", result, sessions: ["anna"], role: "builder" });
  const found = (search: object): boolean => isWanted({ state: "all", ...search })(one);
  expect(["PARS", "line", "it parses"].map((text) => found({ text }))).toEqual([true, true, true]);
  expect([found({ text: "lexer" }), found({ role: "tester" }), found({ sessionId: "bert" })]).toEqual([
    false,
    false,
    false,
  ]);
  expect(found({ role: "builder", sessionId: "anna", agent: "practice" })).toBe(true);
});

test("a page that no answer named is none", () => {
  for (const name of ["", "open", "open_1_2", "closed-x", "open_99999_1_work-a", "1-2"])
    expect(workPage(name)).toBeNull();
  const closed = { closed: { group: 1, place: 7 } };
  expect(workPage(workPageName(closed))).toEqual(closed);
});
