/** What the runtimes say reaches the record: at once, every few seconds, and never more than was asked (issue 8, 4). */
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

beforeEach(async () => {
  clock = makeTestClock();
  ground = await makeGround(agentWith({}), {}, undefined, clock);
  [listing, questions] = [seen({ status: "running", place, askedAt: 1, evidence: "it is there" }), 0];
  const runtime = {
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

describe("the observer (issue 8, 4)", () => {
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
    const other = makeSession(
      ground.home,
      "t",
      amend(ground.session(), { id: "t", identity: { name: "t" }, revision: 1 }),
    );
    await ground.store.commit({ changes: [putSession(other)] });
    listing = nothing;
    await observer.look();
    const told = await ground.store.log.read({ after: 0, limit: 100 });
    expect(told.map(({ body }) => body).filter(({ type }) => type === "runtime-lost")).toMatchObject([{ sessions: 2 }]);
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
