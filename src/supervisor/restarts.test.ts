/** Dead sessions are started again when they are due, at a bounded pace, in a fair order. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { makeTestClock, type TestClock } from "../../test/support/test-clock.ts";
import { amend } from "../session/amend.ts";
import { dueIn } from "../session/restart-policy.ts";
import { NO_RESTARTS } from "../session/restart-record.ts";
import type { Session } from "../session/session.ts";
import { putSession } from "../store/change.ts";
import { makeSession } from "../store/store-fixture.ts";
import { agentWith, type Ground, makeGround } from "./attention/watch-fixture.ts";
import { createScheduler, type Scheduler } from "./ledger/scheduler.ts";
import { createRestarts, MOST_AT_ONCE, type Restarts, STARTS_PER_SECOND } from "./restarts.ts";

let clock: TestClock;
let ground: Ground;
let scheduler: Scheduler | undefined;
let restarts: Restarts;

beforeEach(async () => {
  clock = makeTestClock();
  ground = await makeGround(agentWith({}), {}, undefined, clock);
  begin();
});
afterEach(() => ground.dispose());

/** As a daemon does, also one that comes after another. */
function begin(): void {
  const { log } = ground.home;
  scheduler?.close();
  scheduler = createScheduler({ clock, log, observe: async () => undefined });
  restarts = createRestarts({ ledger: ground.ledger, clock, scheduler, log });
  const { registry } = ground.store;
  ground.ledger.onCommit((id) => {
    const session = registry.get(id);
    if (session !== undefined) restarts.attend(session);
  });
  for (const session of registry.all()) restarts.attend(session);
}

async function die(count: number, delayMs: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `dead-${String(index).padStart(3, "0")}`);
  const dead = ids.map((id) => {
    const restart = dueIn(NO_RESTARTS, delayMs, clock.moment());
    return makeSession(
      ground.home,
      id,
      amend(ground.session(), {
        id,
        revision: 1,
        state: "error",
        identity: { name: id, restartPolicy: "always" },
        process: { exit: { code: 1, signal: null, at: 1 }, restart },
      }),
    );
  });
  await ground.store.commit({ changes: dead.map(putSession) });
  for (const session of dead) restarts.attend(session);
  return ids;
}

const get = (id: string): Session => ground.store.registry.get(id) ?? ground.session();
const isStarted = (id: string): boolean => get(id).state === "starting";
const started = (ids: readonly string[]): readonly string[] => ids.filter(isStarted);

describe("restarts", () => {
  test("of many that are due together: some at once, the rest at a steady pace, the first due first", async () => {
    const ids = await die(30, 1_000);
    await clock.advance(999);
    expect(started(ids)).toEqual([]);
    await clock.advance(1);
    await eventually("the first ones start", () => started(ids).length === MOST_AT_ONCE);
    await eventually("the others say when", () => get("dead-029").process.restart.dueAt === clock.now() + 6_250);
    expect(get("dead-029").reason.text).toContain(
      "Starting again in about 7 s (attempt 1 of 10): other sessions are started first.",
    );
    for (let second = 1; second <= 3; second++) {
      for (let step = 0; step < STARTS_PER_SECOND; step++) {
        const before = started(ids).length;
        await clock.advance(1_000 / STARTS_PER_SECOND);
        await eventually("one more starts", () => started(ids).length === before + 1);
      }
      expect(started(ids)).toEqual(ids.slice(0, MOST_AT_ONCE + second * STARTS_PER_SECOND));
    }
  });

  test("a pause that was decided before is not changed by the wall clock, nor by another daemon", async () => {
    const [id = ""] = await die(1, 60_000);
    await clock.advance(20_000);
    clock.jump(7_200_000);
    await clock.advance(20_000);
    clock.jump(-14_400_000);
    begin();
    await clock.advance(19_000);
    expect(isStarted(id)).toBe(false);
    // The clock was set: the scheduler has everything looked at first.
    await clock.advance(3_000);
    await eventually("it starts", () => isStarted(id));
  });

  test("a loop with clock jumps and other daemons: ten restarts, then one that says so", async () => {
    await ground.apply({ type: "set-restart-policy", policy: "always" });
    const evidence = { source: "runtime", detail: "seen", at: 1 } as const;
    const startedAt: number[] = [];
    for (let life = 0; life < 20 && ground.session().reason.code !== "restarts-exhausted"; life++) {
      const { incarnation } = ground.session().process;
      await ground.apply({ type: "found-exited", incarnation, code: life % 2, signal: null, evidence });
      await ground.apply({ type: "cleared", incarnation, isPlaceGone: false, lastLine: "no fuel", evidence });
      if (ground.session().process.restart.dueAt === null) break;
      clock.jump((life % 3 === 0 ? -1 : 1) * 7_200_000);
      if (life % 2 === 0) begin();
      await eventually("it starts again", async () => {
        await clock.advance(10_000);
        return ground.session().state === "starting";
      });
      startedAt.push(clock.monotonic());
      const shown = { text: "process 1", id: null, pid: 1 };
      const next = ground.session().process.incarnation;
      await ground.apply({ type: "created", incarnation: next, place: { id: "%2" }, shown, evidence });
    }
    expect(startedAt).toHaveLength(10);
    expect(ground.session().reason.text).toContain("it was started 10 times since");
    expect(ground.events("restart-abandoned")).toEqual([
      { type: "restart-abandoned", reason: expect.objectContaining({ code: "restarts-exhausted" }) as object },
    ]);
  });

  test("what is taken back while it waits is not started, and holds nobody up", async () => {
    const ids = await die(8, 0);
    await clock.advance(0);
    await eventually("the first ones start", () => started(ids).length === MOST_AT_ONCE);
    await ground.ledger.apply("dead-005", { type: "end", graceMs: 0, afterTurn: false });
    await ground.ledger.apply("dead-006", { type: "set-restart-policy", policy: "never" });
    await clock.advance(250);
    await eventually("the last one starts", () => isStarted("dead-007"));
    expect([isStarted("dead-005"), isStarted("dead-006")]).toEqual([false, false]);
  });
});
