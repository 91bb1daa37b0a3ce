import { describe, expect, test } from "vitest";
import { planWork, type Planning, type WorkPlan } from "./plan-work.ts";
import { workItem } from "./work-fixture.ts";
import { leftOf } from "./work-limits.ts";
import { busyWorker, idleWorker, worldOfFacts } from "./work-world-fixture.ts";
import type { World } from "./work-world.ts";
import type { WorkItem } from "./work.ts";
import type { WorkerFacts } from "./worker-facts.ts";

const ALONE: Planning = { pooled: [], verify: null, except: new Set() };

function plan(
  items: readonly WorkItem[],
  workers: readonly WorkerFacts[] = [],
  { planning = {}, ...given }: Partial<World> & { readonly planning?: Partial<Planning> } = {},
): WorkPlan {
  return planWork(worldOfFacts(items, workers, given), { ...ALONE, ...planning });
}

/** "dispatch one to anna" */
function steps({ steps: all }: WorkPlan): readonly string[] {
  return all.map(({ advice, item, verify }) =>
    [
      advice.action,
      item?.id,
      advice.sessionId === null ? "" : `to ${advice.sessionId}`,
      verify === null ? "" : verify.join(" "),
    ]
      .filter((word) => word !== "" && word !== undefined)
      .join(" "),
  );
}

const underWay = (id: string, sessionId: string, given: Partial<WorkItem> = {}): WorkItem =>
  workItem({
    id,
    state: "in-progress",
    flight: { sessionId, by: "operator", since: 1, turnsBefore: 0 },
    sessions: [sessionId],
    ...given,
  });
const built = (given: Partial<WorkItem> = {}): WorkItem =>
  workItem({
    id: "built",
    state: "built",
    sessions: ["anna"],
    result: { text: "done", sessionId: "anna", by: "operator", at: 4 },
    ...given,
  });

describe("the order", () => {
  test("is that of priority, then of age", () => {
    const items = [
      workItem({ id: "late", createdAt: 3 }),
      workItem({ id: "urgent", createdAt: 9, priority: 5 }),
      workItem({ id: "early", createdAt: 2 }),
    ];
    expect(steps(plan(items))).toEqual(["dispatch urgent", "dispatch early", "dispatch late"]);
  });

  test("of one priority it goes round the roles, first for the one with the fewest workers", () => {
    const items = [
      underWay("old", "anna", { role: "coder" }),
      workItem({ id: "c1", createdAt: 1, role: "coder" }),
      workItem({ id: "c2", createdAt: 2, role: "coder" }),
      workItem({ id: "t1", createdAt: 8, role: "tester" }),
      workItem({ id: "t2", createdAt: 9, role: "tester" }),
      workItem({ id: "low", createdAt: 0, role: "writer", priority: -1 }),
    ];
    const found = plan(items, [busyWorker({ role: "coder" })]);
    expect(steps(found)).toEqual(["dispatch t1", "dispatch c1", "dispatch t2", "dispatch c2", "dispatch low"]);
    expect(found.held.map(({ action, workId }) => `${action} ${workId}`)).toEqual(["wait old"]);
  });

  test("what was begun comes before what was not", () => {
    const items = [workItem({ id: "new", priority: 9 }), underWay("read-me", "anna")];
    expect(steps(plan(items, [idleWorker()]))).toEqual(["read read-me to anna", "dispatch new"]);
  });

  test("an item that cannot be begun takes no room from others", () => {
    const items = [workItem({ id: "one" }), workItem({ id: "two", createdAt: 2 })];
    const limits = { workers: 1, byAgent: {}, byRole: {} };
    expect(steps(plan(items, [], { limits, planning: { except: new Set(["one"]) } }))).toEqual(["dispatch two"]);
  });
});

describe("limits", () => {
  const three = ["one", "two", "three"].map((id, index) => workItem({ id, createdAt: index }));

  test("no more is given out than workers may be at work", () => {
    const most = { machine: 3, byAgent: {}, byRole: {} };
    const limits = leftOf(most, [{ agent: "practice", role: "agent" }]);
    const found = plan(three, [], { limits });
    expect(steps(found)).toEqual(["dispatch one", "dispatch two"]);
    expect(found.queued).toBe(1);
  });

  test("a role's limit holds for that role", () => {
    const items = [
      workItem({ id: "c1", role: "coder", createdAt: 1 }),
      workItem({ id: "c2", role: "coder", createdAt: 2 }),
      workItem({ id: "any", createdAt: 3 }),
    ];
    const limits = leftOf({ machine: null, byAgent: {}, byRole: { coder: 1 } }, []);
    const found = plan(items, [], { limits });
    expect(steps(found)).toEqual(["dispatch c1", "dispatch any"]);
    expect(found.held).toMatchObject([{ action: "none", code: "no-agent-available", workId: "c2" }]);
  });

  test("an agent's limit, and the role of items that name none", () => {
    const limits = leftOf({ machine: null, byAgent: { practice: 2 }, byRole: { agent: 1 } }, []);
    expect(steps(plan(three, [], { limits }))).toEqual(["dispatch one"]);
    const other = leftOf({ machine: null, byAgent: { practice: 2 }, byRole: {} }, []);
    expect(steps(plan(three, [], { limits: other }))).toEqual(["dispatch one", "dispatch two"]);
  });

  test("whoever is sent back to an item takes room, too", () => {
    const review = { verdict: "changes-requested", text: "no", commit: null, by: "operator", at: 5 } as const;
    const item = built({ id: "back", state: "changes-requested", reviewed: review, rounds: 1 });
    const limits = { workers: 1, byAgent: {}, byRole: {} };
    const found = plan([item, workItem({ id: "new" })], [idleWorker()], { limits });
    expect(steps(found)).toEqual(["fix back to anna"]);
    const none = plan([item], [idleWorker()], { limits: { ...limits, workers: 0 } });
    expect(steps(none)).toEqual([]);
    expect(none.held).toMatchObject([{ code: "no-agent-available", workId: "back" }]);
  });
});

describe("workers", () => {
  test("each free one is given one item", () => {
    const items = ["one", "two", "three"].map((id, index) => workItem({ id, createdAt: index }));
    const workers = ["anna", "bert"].map((sessionId) => idleWorker({ sessionId, name: sessionId }));
    const names = workers.map(({ sessionId }) => sessionId);
    const found = plan(items, workers, { reusable: names, planning: { pooled: names } });
    expect(steps(found)).toEqual(["dispatch one to anna", "dispatch two to bert", "dispatch three"]);
  });

  test("one of the pool that nothing is left for is ended, but not while something may need it", () => {
    const workers = [idleWorker(), idleWorker({ sessionId: "bert", name: "bert", role: "tester" })];
    const pool = { reusable: ["anna", "bert"], planning: { pooled: ["anna", "bert"] } };
    expect(steps(plan([], workers, pool))).toEqual(["end-session to anna", "end-session to bert"]);
    const busy = busyWorker({ sessionId: "carl", name: "carl" });
    const first = underWay("first", "carl");
    const second = workItem({ id: "second", role: "agent", dependencies: ["first"] });
    expect(steps(plan([first, second], [...workers, busy], pool))).toEqual(["end-session to bert"]);
  });

  test("one that waits for a review of its work is kept, and so is one that a person started", () => {
    const mine = idleWorker();
    expect(steps(plan([built({ review: "required" })], [mine], { planning: { pooled: ["anna"] } }))).toEqual([]);
    const reviewed = { verdict: "approved", text: "", commit: null, by: "operator", at: 5 } as const;
    const finalised = built({ state: "finalised", reviewed });
    expect(steps(plan([finalised], [mine]))).toEqual(["done built"]);
    expect(steps(plan([finalised], [mine], { planning: { pooled: ["anna"] } }))).toEqual(["end-session built to anna"]);
  });
});

describe("what is built", () => {
  const decided = (item: WorkItem, verify: readonly string[] | null = null) =>
    steps(plan([item], [idleWorker()], { planning: { verify } }));

  test("is decided by its command, by that of the run, or taken as it is", () => {
    expect(decided(built({ verify: ["npm", "test"] }), ["make"])).toEqual(["review built to anna npm test"]);
    expect(decided(built(), ["make"])).toEqual(["review built to anna make"]);
    expect(decided(built())).toEqual(["review built to anna"]);
  });

  test("is verified also where no review is asked for, and then left to whoever must review it", () => {
    expect(decided(built({ review: "none" }))).toEqual(["finalise built"]);
    expect(decided(built({ review: "none", verify: ["make"] }))).toEqual(["review built make"]);
    expect(decided(built({ review: "required", verify: ["make"] }))).toEqual(["review built to anna make"]);
    const passed = { exitCode: 0, text: "", at: 6 };
    expect(decided(built({ review: "required", verify: ["make"], verification: passed }))).toEqual([]);
  });
});
