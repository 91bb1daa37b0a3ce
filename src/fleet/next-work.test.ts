import { describe, expect, test } from "vitest";
import type { Advice } from "./advice.ts";
import { nextWork } from "./next-work.ts";
import { workItem } from "./work-fixture.ts";
import { promptOf } from "./work-prompt.ts";
import { busyWorker, goneWorker, idleWorker, worldOfFacts } from "./work-world-fixture.ts";
import type { World } from "./work-world.ts";
import type { WorkItem } from "./work.ts";
import type { WorkerFacts } from "./worker-facts.ts";
import { STALE_AFTER_MS } from "./worker-advice.ts";

const PARKED = { until: 900, text: "the limit of codex work is reached" };
const FLIGHT = { sessionId: "anna", by: "operator", since: 1, turnsBefore: 0 } as const;
const underWay = (given: Partial<WorkItem> = {}): WorkItem =>
  workItem({ state: "in-progress", flight: FLIGHT, sessions: ["anna"], ...given });
const built = (given: Partial<WorkItem> = {}): WorkItem =>
  workItem({
    state: "built",
    sessions: ["anna"],
    result: { text: "done", sessionId: "anna", by: "operator", at: 4 },
    ...given,
  });
const review = (verdict: "approved" | "changes-requested", commit: string | null = "c1") =>
  ({ verdict, text: "name it better", commit, by: "operator", at: 5 }) as const;
const approved = (given: Partial<WorkItem> = {}): WorkItem =>
  built({ state: "approved", reviewed: review("approved"), ...given });
const finalised = (given: Partial<WorkItem> = {}): WorkItem => approved({ state: "finalised", ...given });

function next(item: WorkItem, workers: readonly WorkerFacts[] = [], given: Partial<World> = {}): Advice {
  return nextWork(worldOfFacts([item], workers, given), item.id).advice;
}

describe("a pending item", () => {
  test("is given to a worker, with everything that it needs to know", () => {
    expect(next(workItem({ role: "coder", branch: "parser" }))).toMatchObject({
      action: "dispatch",
      dispatch: { agent: "practice", role: "coder", cwd: "/project", branch: "parser", to: null },
    });
    expect(next(workItem()).dispatch?.prompt).toBe(promptOf(workItem()));
  });

  test("is prepared where agent or directory are missing", () => {
    expect(next(workItem({ agent: null, cwd: null }))).toMatchObject({ action: "prepare", report: ["edit"] });
    expect(next(workItem({ agent: null, cwd: null })).text).toContain("lacks agent and cwd");
  });

  test("waits for what it depends on, and needs a person where that will not be done", () => {
    const item = workItem({ dependencies: ["first"] });
    const first = (state: WorkItem["state"]): WorkItem => workItem({ id: "first", state });
    const advice = (others: readonly WorkItem[]): Advice => nextWork(worldOfFacts([item, ...others]), item.id).advice;
    expect(advice([first("built")])).toMatchObject({ action: "none", code: "dependencies-unsatisfied" });
    for (const others of [[first("failed")], [first("cancelled")], []])
      expect(advice(others)).toMatchObject({ action: "escalate", code: "dependencies-unsatisfied" });
    expect(advice([first("done")]).action).toBe("dispatch");
  });

  test("waits for an agent that can be started, a free place, and the reset of a limit", () => {
    const agents = (facts: Partial<{ problem: string; parked: typeof PARKED }>): Partial<World> => ({
      agents: new Map([["practice", { problem: null, parked: null, ...facts }]]),
    });
    const blocked = { action: "none", code: "no-agent-available" };
    expect(next(workItem({ agent: "nobody" }))).toMatchObject(blocked);
    expect(next(workItem(), [], agents({ problem: "It is not installed." }))).toMatchObject(blocked);
    for (const limits of [
      { workers: 0, byAgent: {}, byRole: {} },
      { workers: null, byAgent: { practice: 0 }, byRole: {} },
      { workers: null, byAgent: {}, byRole: { coder: 0 } },
    ])
      expect(next(workItem({ role: "coder" }), [], { limits })).toMatchObject(blocked);
    expect(next(workItem(), [], agents({ parked: PARKED }))).toMatchObject({
      action: "none",
      code: "parked-by-quota",
      until: 900,
    });
  });

  test("goes to an idle worker that is offered and fits, also where no more may be started", () => {
    const offered = { reusable: ["anna"], limits: { workers: 0, byAgent: {}, byRole: {} } };
    expect(next(workItem(), [idleWorker()], offered)).toMatchObject({
      action: "dispatch",
      sessionId: "anna",
      dispatch: { to: "anna" },
    });
    for (const worker of [
      busyWorker(),
      goneWorker(),
      idleWorker({ agent: "codex" }),
      idleWorker({ hasMessages: true }),
    ])
      expect(next(workItem(), [worker], offered).code).toBe("no-agent-available");
    // Changes may still be asked of whoever built something.
    const world = worldOfFacts([workItem(), built({ id: "other" })], [idleWorker()], offered);
    expect(nextWork(world, "work-one").advice.code).toBe("no-agent-available");
  });
});

describe("an item in progress", () => {
  test("of an agent that hides its first turn is waited for by notification, until that turn is over", () => {
    const codex = { agent: "codex", hidesFirstTurn: true, observability: "pending" } as const;
    expect(next(underWay(), [busyWorker(codex)])).toMatchObject({
      action: "wait",
      sessionId: "anna",
      wait: { how: "notification", sessions: ["anna"] },
    });
    expect(
      next(underWay(), [idleWorker({ ...codex, turns: 0, activity: "starting", state: "starting" })]),
    ).toMatchObject({
      action: "wait",
      wait: { how: "notification" },
    });
    expect(next(underWay(), [idleWorker(codex)])).toMatchObject({ action: "read", report: ["built", "release"] });
    expect(next(underWay(), [busyWorker({ ...codex, turns: 2 })])).toMatchObject({ wait: { how: "monitor" } });
    expect(next(underWay(), [busyWorker({ agent: "claude" })])).toMatchObject({
      action: "wait",
      wait: { how: "monitor" },
    });
  });

  test("is never judged by a transcript", () => {
    for (const observability of ["pending", "observable", "lost"] as const) {
      expect(next(underWay(), [busyWorker({ observability })]).action).toBe("wait");
      expect(next(underWay(), [idleWorker({ observability })]).action).toBe("read");
    }
  });

  test("of a worker that cannot be reached, is being ended or started again is waited for", () => {
    for (const worker of [
      idleWorker({ liveness: "unreachable" }),
      busyWorker({ liveness: "unreachable" }),
      idleWorker({ isEnding: true }),
      goneWorker({ gone: null }),
      idleWorker({ activity: "unknown" }),
    ])
      expect(nextWork(worldOfFacts([underWay()], [worker]), "work-one")).toMatchObject({
        advice: { action: "wait", code: null },
        repairs: [],
      });
  });

  test("whose worker asks gets the question, once", () => {
    const approvals = [{ id: "a1", title: "Run make?", isAnswered: false }];
    const asking = busyWorker({ activity: "awaiting-approval", approvals });
    expect(next(underWay(), [asking])).toMatchObject({
      action: "send-details",
      approval: { id: "a1", title: "Run make?" },
    });
    const answered = { ...asking, approvals: approvals.map((one) => ({ ...one, isAnswered: true })) };
    expect(next(underWay(), [answered]).action).toBe("wait");
    expect(next(underWay(), [busyWorker({ activity: "awaiting-input", asks: "Which file?" })])).toMatchObject({
      action: "send-details",
      approval: null,
      text: expect.stringContaining("Which file?") as string,
    });
  });

  test("is stale where its worker hangs, is silent, or is not known; nobody is told to end it", () => {
    for (const worker of [busyWorker({ health: "hung" }), busyWorker({ health: "stalled" })])
      expect(next(underWay(), [worker])).toMatchObject({ action: "escalate", code: "stale" });
    expect(next(underWay(), [busyWorker()], { now: STALE_AFTER_MS + 4 })).toMatchObject({ code: "stale" });
    expect(next(underWay(), [])).toMatchObject({ action: "escalate", code: "stale", report: ["release"] });
    expect(next(underWay(), [idleWorker({ turns: 0 })], { now: 601_000 })).toMatchObject({ code: "stale" });
    expect(next(underWay(), [idleWorker({ turns: 0 })], { now: 61_000 })).toMatchObject({ action: "send-details" });
    // It may be about to take the prompt of its command line: told again, it would do everything twice.
    expect(next(underWay(), [idleWorker({ turns: 0 })]).action).toBe("wait");
    expect(next(underWay(), [idleWorker({ state: "paused" })])).toMatchObject({ action: "escalate", code: null });
  });

  test("whose turn failed is sent on as often as its retry limit says, unless only a person can help", () => {
    const failed = (turns: number, failure: "model-error" | "billing" | null): WorkerFacts =>
      idleWorker({ turns, lastTurn: { verdict: "failed", failure, error: "no", startedAt: 2 } });
    expect(next(underWay(), [failed(2, "model-error")])).toMatchObject({ action: "send-details" });
    expect(next(underWay(), [failed(3, null)])).toMatchObject({ action: "escalate", report: ["release", "fail"] });
    expect(next(underWay(), [failed(1, "billing")])).toMatchObject({ action: "escalate" });
    const cutOff = idleWorker({ lastTurn: { verdict: null, failure: null, error: null, startedAt: 2 } });
    expect(next(underWay(), [cutOff]).text).toContain("was cut off");
    const limited = { verdict: "failed", failure: "quota-exhausted", error: "no", startedAt: 2 } as const;
    expect(next(underWay(), [idleWorker({ lastTurn: limited, parked: PARKED })])).toMatchObject({
      action: "wait",
      code: "parked-by-quota",
      until: 900,
    });
  });

  test("goes back to the queue when its worker is proven to be gone, or is built where that tells", () => {
    expect(nextWork(worldOfFacts([underWay()], [goneWorker()]), "work-one")).toMatchObject({
      advice: { action: "dispatch" },
      repairs: [{ workId: "work-one", change: { type: "release" } }],
    });
    expect(nextWork(worldOfFacts([underWay({ retryLimit: 0 })], [goneWorker()]), "work-one")).toMatchObject({
      advice: { action: "escalate", code: null },
    });
    const ended = { type: "built", text: "Its program ended with status 0.", sessionId: "anna", commits: [] } as const;
    const command = { hasTurns: false, turns: 0, lastTurn: null, activity: "unknown", wait: "poll" } as const;
    expect(next(underWay(), [goneWorker({ ...command, gone: ended })]).action).toBe("review");
    expect(next(underWay(), [idleWorker(command)]).action).toBe("wait");
  });

  test("with files that are not committed is sent back for that; then a person decides", () => {
    const git = { commit: "c1", dirty: 2 };
    const item = underWay({ branch: "parser" });
    expect(next(item, [idleWorker({ git })])).toMatchObject({
      action: "send-details",
      code: "uncommitted-changes",
      message: expect.stringContaining("2 files in your checkout are not committed") as string,
    });
    expect(next(item, [idleWorker({ git, turns: 3 })])).toMatchObject({
      action: "escalate",
      code: "uncommitted-changes",
    });
    // The files of a directory that nobody declared are not the worker's.
    expect(next(underWay(), [idleWorker({ git })])).toMatchObject({ action: "read", commit: "c1" });
  });
});

describe("a built item", () => {
  test("is reviewed at its commit, or finalised where no review is wanted", () => {
    const worker = idleWorker({ git: { commit: "c7", dirty: 0 } });
    expect(next(built(), [worker])).toMatchObject({
      action: "review",
      commit: "c7",
      report: ["approve", "request-changes"],
    });
    expect(next(built({ review: "none" }), [worker])).toMatchObject({ action: "finalise", commit: "c7" });
    expect(next(built({ commits: ["c2"] }), [goneWorker()])).toMatchObject({ action: "review", commit: "c2" });
    expect(next(built({ verify: ["npm", "test"] })).text).toContain("npm test");
    expect(next(built({ rounds: 3 })).text).toContain("one more fails it");
  });

  test("waits while its worker is still at it, and tells it once to commit", () => {
    expect(next(built(), [busyWorker()]).action).toBe("wait");
    const git = { commit: "c1", dirty: 1 };
    const item = built({ branch: "parser" });
    expect(next(item, [idleWorker({ git })])).toMatchObject({ action: "send-details", code: "uncommitted-changes" });
    const since = { verdict: "completed", failure: null, error: null, startedAt: 6 } as const;
    expect(next(item, [idleWorker({ git, lastTurn: since })])).toMatchObject({
      action: "escalate",
      code: "uncommitted-changes",
    });
  });
});

describe("an item with requested changes", () => {
  const item = built({ state: "changes-requested", rounds: 1, reviewed: review("changes-requested") });

  test("goes back to its worker, or to a new one with what was said", () => {
    expect(next(item, [idleWorker()])).toMatchObject({ action: "fix", sessionId: "anna" });
    expect(next(item, [idleWorker()]).message).toContain("name it better");
    expect(next(item, [busyWorker()]).action).toBe("wait");
    expect(next(item, [idleWorker({ liveness: "unreachable" })]).action).toBe("wait");
    expect(next(item, [goneWorker()])).toMatchObject({ action: "dispatch" });
    expect(next(item, [goneWorker()]).dispatch?.prompt).toContain("name it better");
    const other = underWay({ id: "other" });
    expect(nextWork(worldOfFacts([item, other], [idleWorker()]), item.id).advice.action).toBe("wait");
  });
});

describe("an approved item", () => {
  test("is finalised at the commit that was approved", () => {
    const worker = idleWorker({ git: { commit: "c1", dirty: 0 } });
    expect(next(approved(), [worker])).toMatchObject({ action: "finalise", commit: "c1", report: ["finalise"] });
    expect(next(approved(), [busyWorker({ git: worker.git })]).action).toBe("wait");
  });

  test("is reviewed again when commits came after it", () => {
    const world = worldOfFacts([approved()], [idleWorker({ git: { commit: "d9", dirty: 0 } })]);
    expect(nextWork(world, "work-one")).toMatchObject({
      advice: { action: "review", commit: "d9" },
      repairs: [{ change: { type: "reset-review" } }],
    });
    const short = approved({ reviewed: review("approved", "d9") });
    expect(next(short, [idleWorker({ git: { commit: "d9aa", dirty: 0 } })]).action).toBe("finalise");
    expect(next(approved({ reviewed: review("approved", null) }), [idleWorker()]).action).toBe("finalise");
  });

  test("counts as built, whatever the record says", () => {
    const item = workItem({ reviewed: review("approved") });
    expect(nextWork(worldOfFacts([item]), item.id)).toMatchObject({
      advice: { action: "finalise" },
      repairs: [{ change: { type: "approve", commit: "c1" } }],
    });
  });
});

describe("a finalised item", () => {
  test("lets its worker go when that is idle and needed by nobody; then it is done", () => {
    expect(next(finalised(), [idleWorker()])).toMatchObject({ action: "end-session", sessionId: "anna" });
    expect(next(finalised(), [busyWorker()]).action).toBe("wait");
    expect(next(finalised(), [idleWorker({ hasMessages: true })]).action).toBe("wait");
    expect(next(finalised(), [idleWorker({ turns: 0 })]).action).toBe("wait");
    for (const worker of [goneWorker(), idleWorker({ isHeld: true })])
      expect(next(finalised(), [worker])).toMatchObject({ action: "done", report: ["done"] });
    expect(next(finalised(), [idleWorker()], { self: "anna" }).action).toBe("done");
    expect(next(finalised(), [idleWorker()], { reusable: ["anna"] }).action).toBe("done");
    for (const other of [underWay({ id: "other" }), built({ id: "other" })])
      expect(nextWork(worldOfFacts([finalised(), other], [idleWorker()]), "work-one").advice.action).toBe("done");
  });
});

describe("a closed item", () => {
  test("needs nothing, or a person", () => {
    expect(next(workItem({ state: "done" }))).toMatchObject({ action: "done", report: [] });
    expect(next(workItem({ state: "cancelled" }))).toMatchObject({ action: "done", report: [] });
    expect(next(workItem({ state: "failed", why: "It cannot be done." }))).toMatchObject({
      action: "escalate",
      code: null,
    });
    const thrice = workItem({ state: "failed", rounds: 3, reviewed: review("changes-requested") });
    expect(next(thrice)).toMatchObject({ action: "escalate", code: "review-limit-reached" });
  });
});

describe("the queue", () => {
  const queue = (
    items: readonly WorkItem[],
    workers: readonly WorkerFacts[] = [],
    given: Partial<World> = {},
  ): Advice => nextWork(worldOfFacts(items, workers, given), null).advice;

  test("finishes what was begun, then goes by priority and age", () => {
    const items = [
      workItem({ id: "low" }),
      workItem({ id: "high", priority: 9 }),
      built({ id: "begun", priority: -5 }),
    ];
    expect(queue(items).workId).toBe("begun");
    expect(queue(items.slice(0, 2)).workId).toBe("high");
  });

  test("what can be done comes before what only waits, and before what needs a person", () => {
    const busy = [busyWorker(), busyWorker({ sessionId: "bert", name: "bert", hidesFirstTurn: true })];
    const waiting = [underWay(), underWay({ id: "another", flight: { ...FLIGHT, sessionId: "bert" } })];
    expect(queue([...waiting, workItem({ id: "ready", priority: -9 })], busy).action).toBe("dispatch");
    expect(queue(waiting, busy)).toMatchObject({
      action: "wait",
      workId: null,
      wait: { how: "notification", sessions: ["bert", "anna"] },
    });
    const blocked = workItem({ id: "blocked", dependencies: ["nowhere"] });
    expect(queue([...waiting, blocked], busy)).toMatchObject({
      action: "escalate",
      workId: "blocked",
      wait: { sessions: ["bert", "anna"] },
    });
  });

  test("says why nothing can be done", () => {
    expect(queue([])).toMatchObject({ action: "none", code: "nothing-ready" });
    expect(queue([workItem({ state: "failed" })])).toMatchObject({ code: "nothing-ready" });
    const agents = new Map([["practice", { problem: null, parked: PARKED }]]);
    const items = [
      workItem({ id: "a", agent: "nobody" }),
      workItem({ id: "b" }),
      workItem({ id: "c", dependencies: ["b"] }),
    ];
    expect(queue(items, [], { agents })).toMatchObject({ code: "parked-by-quota", workId: "b", until: 900 });
    expect(queue(items.slice(0, 1), [], { agents })).toMatchObject({ code: "no-agent-available" });
  });
});
