/** What the runtimes say reaches the record: at once, every few seconds, and never more than was asked. */
import { amend } from "../session/amend.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../test/support/test-clock.ts";
import type { Listing, Presence, Runtime } from "../runtime/contract.ts";
import { putSession } from "../store/change.ts";
import { makeSession } from "../store/store-fixture.ts";
import { agentWith, type Ground, makeGround } from "./attention/watch-fixture.ts";
import { createScheduler } from "./ledger/scheduler.ts";
import { createObserver, type Observer } from "./observer.ts";

const INTERVAL_MS = 5_000;
const place = { id: "%1", pid: process.pid, startTicks: "1" };

let clock: TestClock;
let ground: Ground;
let observer: Observer;
let listing: Listing;
let questions: number;
let hint: () => void;
let runtime: Runtime;

beforeEach(async () => {
  clock = makeTestClock();
  ground = await makeGround(agentWith({}), {}, undefined, clock);
  [listing, questions] = [seen({ status: "running", place, askedAt: 1, evidence: "it is there" }), 0];
  runtime = {
    kind: ground.session().identity.runtime,
    list: async () => {
      questions++;
      return listing;
    },
    describe: () => ({ text: "a place", pid: process.pid }),
    onChange: (listener: () => void) => {
      hint = listener;
      return () => (hint = () => undefined);
    },
  } as unknown as Runtime;
  const scheduler = createScheduler({ clock, log: ground.home.log, observe: () => observer.look() });
  observer = createObserver({ ...ground.parts, scheduler, runtimes: [runtime], intervalMs: INTERVAL_MS });
});
afterEach(async () => {
  await observer.close();
  await ground.dispose();
});

function seen(presence: Presence, sessionId = "s"): Listing {
  return { reachable: true, askedAt: 1, evidence: "the list", entries: [{ sessionId, incarnation: 1, presence }] };
}
const nothing: Listing = { reachable: true, askedAt: 1, evidence: "the list is empty", entries: [] };
const silence: Listing = { reachable: false, askedAt: 1, evidence: "nobody answered" };
const liveness = (): string => ground.session().process.liveness.status;

const addOther = async (): Promise<void> => {
  const changes = amend(ground.session(), { id: "t", identity: { name: "t" }, revision: 1 });
  await ground.store.commit({ changes: [putSession(makeSession(ground.home, "t", changes))] });
};
const losses = async (): Promise<readonly unknown[]> =>
  (await ground.store.log.read({ after: 0, limit: 100, types: ["runtime-lost"] })).map(({ body }) => body);
const causes = (): readonly string[] =>
  ground.store.registry.all().map(({ process }) => (process.exit === null ? "alive" : process.restart.cause));

describe("the observer", () => {
  test("a session that was here before is adopted once", async () => {
    await observer.look();
    await observer.look();
    expect(ground.events("session-adopted")).toHaveLength(1);
  });

  test("one unanswered question is no verdict; the second, soon after, is", async () => {
    listing = silence;
    await observer.look();
    expect([liveness(), questions, clock.waiting()]).toEqual(["running", 1, [500]]);
    await clock.advance(500);
    await eventually("it is unreachable", () => liveness() === "unreachable");
    expect([questions, ground.session().process.exit]).toEqual([2, null]);
    listing = seen({ status: "running", place, askedAt: 1, evidence: "it is there" });
    await observer.look();
    expect(liveness()).toBe("running");
  });

  test("tells of an end that is proven although nobody answers, and of nothing else", async () => {
    await addOther();
    listing = silence;
    const presence: Presence = { status: "exited", code: 3, signal: null, askedAt: 1, evidence: "the kernel says so" };
    runtime.endedUnasked = (sessions) =>
      sessions.filter(({ target }) => target.sessionId === "t").map(({ target }) => ({ ...target, presence }));
    await observer.look();
    expect(ground.store.registry.get("t")?.process.exit).toBe(null);
    await clock.advance(500);
    await eventually("the end is told", () => ground.store.registry.get("t")?.process.exit?.code === 3);
    await eventually("the other is unreachable", () => liveness() === "unreachable");
    expect(ground.session().process.exit).toBe(null);
  });

  test("asks one that does not answer every second, as long as it has sessions", async () => {
    listing = silence;
    await observer.look();
    await clock.advance(500);
    await eventually("it asks soon again", () => clock.waiting().includes(1_000));
    await clock.advance(1_000);
    await eventually("it asked, and goes on", () => questions === 3 && clock.waiting().includes(1_000));
    listing = seen({ status: "exited", code: 0, signal: null, askedAt: 1, evidence: "it ended" });
    await clock.advance(1_000);
    await eventually("it heard of the end", () => ground.session().process.exit !== null);
    listing = silence;
    await observer.look();
    await observer.look();
    expect([questions, clock.waiting()]).toEqual([4, []]);
  });

  test("asks every few seconds, and on a hint; hints during a question cause one more", async () => {
    observer.start();
    await clock.advance(INTERVAL_MS);
    await eventually("it asked, and will again", () => questions === 1 && clock.waiting().length === 1);
    hint();
    hint();
    hint();
    await eventually("it asked twice more", () => questions === 3);
    await observer.look();
    expect(questions).toBe(4);
    await clock.advance(INTERVAL_MS);
    await eventually("it goes on", () => questions === 5);
  });

  test("leaves a runtime alone that has none of ours, until it has again", async () => {
    Object.assign(runtime, { kind: "other" });
    observer.start();
    for (const _ of [1, 2, 3]) await clock.advance(INTERVAL_MS);
    expect([questions, clock.waiting()]).toEqual([0, [INTERVAL_MS]]);
    const here = amend(ground.session(), { id: "t", identity: { name: "t", runtime: "other" }, revision: 1 });
    await ground.store.commit({ changes: [putSession(makeSession(ground.home, "t", here))] });
    await clock.advance(INTERVAL_MS);
    await eventually("it asks", () => questions === 1);
  });

  test.each([
    ["a thousand sessions", 1_000, undefined, 10],
    ["a hundred", 100, undefined, 1],
    ["twenty, if it says that ten are enough", 20, 10, 2],
  ])("asks a runtime with %s the less often", async (_, count, most, longer) => {
    if (most !== undefined) Object.assign(runtime, { mostAtFullPace: most });
    const more = Array.from({ length: count - 1 }, (_unused, index) =>
      makeSession(
        ground.home,
        `t${index}`,
        amend(ground.session(), { id: `t${index}`, identity: { name: `t${index}` }, revision: 1 }),
      ),
    );
    await ground.store.commit({ changes: more.map((session) => putSession(session)) });
    const entries = ground.store.registry.all().map(({ id }) => ({
      sessionId: id,
      incarnation: 1,
      presence: { status: "running", place, askedAt: 1, evidence: "it is there" } as const,
    }));
    listing = { reachable: true, askedAt: 1, evidence: "the list", entries };
    await observer.look();
    observer.start();
    expect(clock.waiting()).toEqual([longer * INTERVAL_MS]);
  });

  test("an end is told with its code", async () => {
    listing = seen({ status: "exited", code: 3, signal: null, askedAt: 1, evidence: "it ended" });
    await observer.look();
    expect(ground.session().process.exit).toMatchObject({ code: 3 });
  });

  test("what belongs to nobody changes nothing, and one that is not listed is absent", async () => {
    listing = seen({ status: "running", place, askedAt: 1, evidence: "it is there" }, "stranger");
    await observer.look();
    expect(liveness()).toBe("absent");
    expect(ground.store.registry.all()).toHaveLength(1);
  });

  test("all of several gone at once is told as what it is", async () => {
    await addOther();
    listing = nothing;
    await observer.look();
    expect([await losses(), causes()]).toMatchObject([[{ sessions: 2 }], ["shared", "shared"]]);
  });

  test("a loss that takes several looks to notice is one, until something runs again", async () => {
    const third = amend(ground.session(), { id: "u", identity: { name: "u" }, revision: 1 });
    await addOther();
    listing = nothing;
    await observer.look();
    // Its pane was made by the server that died, and recorded a moment later.
    const late = makeSession(ground.home, "u", third);
    await ground.store.commit({ changes: [putSession(late)] });
    await observer.look();
    expect([await losses(), causes()]).toMatchObject([[{ sessions: 2 }], ["shared", "shared", "shared"]]);
  });

  test("a loss in the middle of which the daemon died is not told again by the next", async () => {
    await addOther();
    const { process: known } = ground.session();
    const evidence = { source: "runtime", detail: "the list is empty", at: 1 } as const;
    await ground.apply({ type: "found-absent", incarnation: 1, asked: known.place, evidence, isShared: true });
    await observer.close();
    const runtime = { kind: ground.session().identity.runtime, list: async () => nothing, onChange: () => () => {} };
    const scheduler = createScheduler({ clock, log: ground.home.log, observe: async () => undefined });
    const runtimes = [runtime as unknown as Runtime];
    observer = createObserver({ ...ground.parts, scheduler, runtimes, intervalMs: INTERVAL_MS });
    await observer.look();
    expect([await losses(), causes()]).toEqual([[], ["shared", "shared"]]);
  });

  test("one that is gone while others run died by itself", async () => {
    await addOther();
    await observer.look();
    expect([await losses(), causes()]).toEqual([[], ["alive", "own"]]);
  });

  test("closed, it asks nothing more", async () => {
    observer.start();
    await observer.close();
    hint();
    await clock.advance(10 * INTERVAL_MS);
    expect([questions, clock.waiting()]).toEqual([0, []]);
  });

  test("held up for long, the daemon asks before its own timers act", async () => {
    observer.start();
    await clock.holdUp(60_000);
    await eventually("it asked", () => questions === 1);
    expect(ground.home.logged).toMatchObject([{ fields: { late_ms: 55_000 } }]);
  });
});
