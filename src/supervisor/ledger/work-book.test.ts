import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { WorkChange } from "../../fleet/work-change.ts";
import { isClosed } from "../../fleet/work.ts";
import { OPERATOR } from "../../session/caller.ts";
import { killed, makeWorkGround, revived, type WorkGround } from "../fleet/work-fixture.ts";

const WORKERS = ["anna", "bert", "carl"] as const;
let ground: WorkGround;
beforeEach(async () => {
  ground = await makeWorkGround(WORKERS);
});
afterEach(() => ground.dispose());

const wish = { caller: OPERATOR };
const edit = (id: string, dependencies: readonly string[]) =>
  ground.book().change(id, { type: "edit", fields: { dependencies } }, wish);

describe("the book of work", () => {
  test("gives an item to one worker, and a worker one item, whoever asks at once", async () => {
    await ground.add("work-a");
    await ground.add("work-b");
    const given = await Promise.allSettled([
      ground.give("work-a", "anna"),
      ground.give("work-a", "bert"),
      ground.give("work-b", "anna"),
    ]);
    expect(given.map((one) => (one.status === "rejected" ? (one.reason as { code: string }).code : "given"))).toEqual([
      "given",
      "wrong-work-state",
      "worker-busy",
    ]);
    // What it has, it may be given again with more.
    await ground.give("work-a", "anna");
    expect(ground.book().of("anna")?.id).toBe("work-a");
  });

  test("gives out no more at once than may work, whoever asks at once", async () => {
    await ground.dispose();
    ground = await makeWorkGround(WORKERS, { machine: 2, byAgent: {}, byRole: {} });
    for (const id of ["work-a", "work-b", "work-c"]) await ground.add(id);
    const give = () =>
      Promise.allSettled([ground.give("work-a", "anna"), ground.give("work-b", "bert"), ground.give("work-c", "carl")]);
    const given = await give();
    expect(given.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(given[2]).toMatchObject({ reason: { code: "too-many-workers" } });
    expect(ground.book().atWork()).toHaveLength(2);
    await ground.restart();
    await expect(ground.give("work-c", "carl")).rejects.toMatchObject({ code: "too-many-workers" });
    await ground.book().change("work-a", { type: "built", text: "", sessionId: null, commits: [] }, wish);
    // A commit that fails takes no room.
    ground.refuse(1);
    await expect(ground.give("work-c", "carl")).rejects.toThrow("full");
    await ground.give("work-c", "carl");
  });

  test("gives nothing to a session while something else is done with it", async () => {
    await ground.add("work-a");
    let isOver = false;
    const held = ground.book().whileFree("anna", async () => {
      await new Promise((resolve) => setImmediate(resolve));
      isOver = true;
    });
    const given = ground.give("work-a", "anna").then(() => isOver);
    await held;
    expect(await given).toBe(true);
    await expect(ground.book().whileFree("anna", async () => undefined)).rejects.toMatchObject({ code: "worker-busy" });
  });

  test("gives nothing out that waits for something, and nothing at all if the commit fails", async () => {
    await ground.add("work-a");
    await ground.add("work-b", { dependencies: ["work-a"] });
    await expect(ground.give("work-b", "anna")).rejects.toMatchObject({ code: "dependencies-open" });
    ground.refuse(1);
    await expect(ground.give("work-a", "anna")).rejects.toThrow("full");
    expect(ground.book().of("anna")).toBeUndefined();
    await ground.book().change("work-a", { type: "cancel", why: "x" }, wish);
    await expect(ground.give("work-b", "anna")).rejects.toMatchObject({ code: "dependencies-open" });
    await ground.book().change("work-a", { type: "retry" }, wish);
    await ground.book().change("work-a", { type: "done", text: null, commits: [] }, wish);
    await ground.give("work-b", "anna");
  });

  test("refuses a circle of dependencies, also one that two make at once, and unknown ones", async () => {
    for (const id of ["work-a", "work-b", "work-c"]) await ground.add(id);
    await expect(ground.add("work-d", { dependencies: ["work-x"] })).rejects.toMatchObject({ code: "unknown-work" });
    await edit("work-b", ["work-a"]);
    const both = await Promise.allSettled([edit("work-a", ["work-c"]), edit("work-c", ["work-b"])]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    await expect(edit("work-a", ["work-a"])).rejects.toMatchObject({ code: "dependency-cycle" });
  });

  test("is the same for the next daemon; what is closed is read when it is asked for", async () => {
    await ground.add("work-a");
    await ground.add("work-b");
    await ground.book().change("work-b", { type: "done", text: "x", commits: [] }, wish);
    await ground.restart();
    expect(
      ground
        .book()
        .open()
        .map(({ id }) => id),
    ).toEqual(["work-a"]);
    expect((await ground.book().get("work-b"))?.state).toBe("done");
  });
});

/** What may happen to the queue, to its workers and to the daemon. */
type Step =
  | { readonly type: "give" | "change"; readonly item: number; readonly worker: number; readonly change: WorkChange }
  | { readonly type: "kill" | "revive"; readonly worker: number }
  | { readonly type: "restart" | "refuse" };

const change: fc.Arbitrary<WorkChange> = fc.constantFrom<WorkChange>(
  { type: "built", text: "done", sessionId: null, commits: [] },
  { type: "request-changes", text: "more", commit: null },
  { type: "approve", text: "", commit: null },
  { type: "done", text: null, commits: [] },
  { type: "release", why: "slow" },
  { type: "retry" },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constantFrom("give", "change" as const), item: fc.nat(3), worker: fc.nat(2), change }),
  fc.record({ type: fc.constantFrom("kill", "revive" as const), worker: fc.nat(2) }),
  fc.record({ type: fc.constantFrom("restart", "refuse" as const) }),
);

test("whatever happens and whenever a daemon dies: one worker for an item, one item for a worker, none for the dead", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const own = await makeWorkGround(WORKERS);
      try {
        for (const index of [0, 1, 2, 3]) await own.add(`work-${index}`, { retryLimit: 50 });
        for (const one of steps) await perform(own, one).catch(() => undefined);
        own.refuse(0);
        await own.restart();
        const items = await Promise.all([0, 1, 2, 3].map((index) => own.item(`work-${index}`)));
        const held = items.flatMap(({ flight }) => (flight === null ? [] : [flight.sessionId]));
        expect(new Set(held).size).toBe(held.length);
        for (const id of held) expect(own.store.registry.get(id)?.process.exit).toBeNull();
        for (const item of items) {
          expect(item.flight !== null).toBe(item.state === "in-progress");
          expect(
            own
              .book()
              .open()
              .some(({ id }) => id === item.id),
          ).toBe(!isClosed(item.state));
        }
        // Each revision is one event: nothing was done twice, and nothing without being told.
        const told = (await own.events()).filter(({ type }) => type === "work-changed" || type === "work-added");
        expect(told).toHaveLength(items.reduce((sum, { revision }) => sum + revision, 0));
      } finally {
        await own.dispose();
      }
    }),
    { numRuns: 12 },
  );
});

async function perform(own: WorkGround, one: Step): Promise<void> {
  switch (one.type) {
    case "give": {
      const worker = WORKERS[one.worker] ?? "anna";
      if (own.store.registry.get(worker)?.process.exit === null) await own.give(`work-${one.item}`, worker);
      return;
    }
    case "change":
      return void (await own.book().change(`work-${one.item}`, one.change, wish));
    case "kill":
    case "revive":
      return await own.change(WORKERS[one.worker] ?? "anna", one.type === "kill" ? killed : revived);
    case "restart":
      return await own.restart();
    case "refuse":
      return own.refuse(1);
  }
}
