import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changedWork, isReviewLimitReached, WORK_RULES, type WorkChange, type WorkChangeType } from "./work-change.ts";
import { workItem } from "./work-fixture.ts";
import { isClosed, MOST_ROUNDS, WORK_STATES, type WorkItem, workKind } from "./work.ts";

const WHO = { by: "operator", at: 5 } as const;
const CHANGES: Readonly<Record<WorkChangeType, readonly WorkChange[]>> = {
  edit: [{ type: "edit", fields: { priority: 3 } }],
  begin: [
    { type: "begin", flight: { sessionId: "anna", turnsBefore: 0 } },
    { type: "begin", flight: { sessionId: "bert", turnsBefore: 4 } },
  ],
  release: [{ type: "release", why: "its worker died" }],
  built: [{ type: "built", text: "done", sessionId: null, commits: ["c1"] }],
  verified: [
    { type: "verified", verification: { exitCode: 0, text: "" } },
    { type: "verified", verification: { exitCode: 1, text: "a test failed" } },
  ],
  approve: [{ type: "approve", text: "good", commit: "c1" }],
  "request-changes": [{ type: "request-changes", text: "name it better", commit: "c1" }],
  "reset-review": [{ type: "reset-review", why: "commits came after it" }],
  finalise: [{ type: "finalise", commits: ["c2"] }],
  done: [{ type: "done", text: null, commits: [] }],
  fail: [{ type: "fail", why: "it cannot be done" }],
  cancel: [{ type: "cancel", why: "not wanted any more" }],
  retry: [{ type: "retry" }],
};
const anyChange = fc.constantFrom(...Object.values(CHANGES).flat());

function walk(changes: readonly WorkChange[], start: WorkItem = workItem()): WorkItem {
  return changes.reduce((item, change) => changedWork(item, change, WHO)?.item ?? item, start);
}

describe("an item of work", () => {
  test("leaves a state only as the table says, and a record can always be read again", () => {
    fc.assert(
      fc.property(fc.array(anyChange, { maxLength: 40 }), (changes) => {
        let item = workItem();
        for (const change of changes) {
          const rule: { readonly from: readonly string[]; readonly to: readonly string[] } = WORK_RULES[change.type];
          const before = item;
          try {
            item = changedWork(item, change, WHO)?.item ?? item;
          } catch {
            expect(rule.from).not.toContain(before.state);
          }
          if (item === before) continue;
          expect(item.revision).toBe(before.revision + 1);
          expect(rule.from).toContain(before.state);
          expect(rule.to).toContain(item.state === before.state ? "same" : item.state);
          // Somebody works on it if and only if it is in progress.
          expect(item.flight !== null).toBe(item.state === "in-progress");
          expect(item.rounds).toBeLessThanOrEqual(MOST_ROUNDS);
          expect(workKind.parse(JSON.parse(JSON.stringify(item)))).toEqual(item);
        }
      }),
    );
  });

  test("every state can be reached, and every arrow of the table is used", () => {
    const used = new Set<string>();
    const seen = new Set<string>();
    const waiting = [workItem(), workItem({ retryLimit: 0 }), workItem({ review: "required" })];
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const key = JSON.stringify([item.state, item.review, item.rounds, item.failures, item.reviewed?.verdict]);
      if (seen.has(key)) continue;
      seen.add(key);
      for (const change of Object.values(CHANGES).flat()) {
        try {
          const next = changedWork(item, change, WHO)?.item;
          if (next === undefined) continue;
          used.add(`${change.type} ${next.state === item.state ? "same" : next.state}`);
          waiting.push(next);
        } catch {
          // not from there
        }
      }
    }
    const arrows = Object.entries(WORK_RULES).flatMap(([type, { to }]) => to.map((state) => `${type} ${state}`));
    expect([...used].toSorted()).toEqual(arrows.toSorted());
    expect(new Set([...seen].map((key) => (JSON.parse(key) as string[])[0]))).toEqual(new Set(WORK_STATES));
  });

  test("is with one worker at a time; the same one may be told twice", () => {
    const [anna, bert] = CHANGES.begin;
    const begun = walk([anna as WorkChange]);
    expect(changedWork(begun, anna as WorkChange, WHO)).toBeNull();
    expect(() => changedWork(begun, bert as WorkChange, WHO)).toThrow("session anna works on it");
  });

  test("goes back to the queue when its worker is gone, and fails after the last attempt", () => {
    const lost = [...CHANGES.begin.slice(0, 1), ...CHANGES.release];
    const once = walk(lost);
    expect(once).toMatchObject({ state: "pending", failures: 1, flight: null, why: "its worker died" });
    expect(walk([...lost, ...lost], once)).toMatchObject({ state: "failed", failures: 3, why: "its worker died" });
  });

  test("may be sent back three times; then a person decides", () => {
    const round = [...CHANGES["request-changes"], ...CHANGES.begin.slice(0, 1), ...CHANGES.built];
    const built = walk([...CHANGES.begin.slice(0, 1), ...CHANGES.built]);
    const thrice = walk([...round, ...round, ...round], built);
    expect(thrice).toMatchObject({ state: "built", rounds: 3 });
    const refused = walk(CHANGES["request-changes"], thrice);
    expect([refused.state, isReviewLimitReached(refused), isReviewLimitReached(thrice)]).toEqual([
      "failed",
      true,
      false,
    ]);
  });

  test("that needs a review is finalised by nobody but the operator before that", () => {
    const built = walk(CHANGES.built, workItem({ review: "required" }));
    for (const type of ["finalise", "done"] as const)
      expect(() => changedWork(built, CHANGES[type][0] as WorkChange, { by: "session:anna", at: 5 })).toThrow(
        "needs a review",
      );
    expect(walk(CHANGES.verified.slice(0, 1), built)).toMatchObject({ state: "built", verification: { exitCode: 0 } });
    expect(isClosed(walk([...CHANGES.approve, ...CHANGES.done], built).state)).toBe(true);
  });
});
