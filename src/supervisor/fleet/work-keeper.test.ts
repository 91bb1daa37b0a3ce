import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OPERATOR } from "../../session/caller.ts";
import { killed, makeWorkGround, revived, type WorkGround } from "./work-fixture.ts";

let ground: WorkGround;
beforeEach(async () => {
  ground = await makeWorkGround(["anna", "bert"]);
});
afterEach(() => ground.dispose());

const wish = { caller: OPERATOR };
const states = async (): Promise<readonly string[]> =>
  (await ground.events()).flatMap((body) => (body.type === "work-changed" ? [`${body.change} ${body.state}`] : []));

describe("an item whose worker is gone", () => {
  test("goes back to the queue with the reason, and fails after its last attempt; the operator is told", async () => {
    await ground.add("work-a", { retryLimit: 1 });
    await ground.give("work-a", "anna");
    await ground.change("anna", killed);
    await ground.settled();
    expect(await ground.item("work-a")).toMatchObject({
      state: "pending",
      failures: 1,
      flight: null,
      why: "Session anna is gone. Its process was killed by SIGKILL.",
    });
    expect(ground.keeper().conditions()).toEqual([]);
    await ground.give("work-a", "bert");
    await ground.change("bert", killed);
    await ground.settled();
    expect(await ground.item("work-a")).toMatchObject({ state: "failed", failures: 2 });
    expect(await states()).toEqual(["begin in-progress", "release pending", "begin in-progress", "release failed"]);
    expect(ground.keeper().conditions()).toMatchObject([{ condition: { kind: "work", sessionId: null } }]);
    await ground.restart();
    expect(ground.keeper().conditions()).toMatchObject([{ condition: { kind: "work" } }]);
    await ground.book().change("work-a", { type: "retry" }, wish);
    expect(ground.keeper().conditions()).toEqual([]);
  });

  test("stays with a worker that is started again, cannot be reached, or lost its transcript", async () => {
    await ground.add("work-a");
    await ground.give("work-a", "anna");
    const { restart } = ground.store.registry.get("anna")?.process ?? {};
    if (restart === undefined) throw new Error("no session");
    const evidence = { source: "runtime", detail: "nobody answers", at: 3 } as const;
    await ground.change("anna", { process: { liveness: { status: "unreachable", evidence } } });
    await ground.change("anna", {
      ...killed,
      process: { ...killed.process, restart: { ...restart, dueAt: 9 } },
    });
    await ground.restart();
    await ground.change("anna", { ...revived, process: { ...revived.process, restart } });
    await ground.settled();
    expect(await ground.item("work-a")).toMatchObject({ state: "in-progress", failures: 0 });
    expect(await states()).toEqual(["begin in-progress"]);
  });

  test("is returned by the next daemon, if the last one did not live to do it", async () => {
    await ground.add("work-a");
    await ground.give("work-a", "anna");
    ground.refuse(1);
    await ground.change("anna", killed);
    await ground.settled();
    expect((await ground.item("work-a")).state).toBe("in-progress");
    await ground.restart();
    expect(await ground.item("work-a")).toMatchObject({ state: "pending", failures: 1 });
    await ground.restart();
    expect(await states()).toEqual(["begin in-progress", "release pending"]);
  });

  test("is returned a little later, if it could not be written down", async () => {
    await ground.add("work-a");
    await ground.give("work-a", "anna");
    ground.refuse(2);
    await ground.change("anna", killed);
    await ground.settled();
    for (let tries = 0; tries < 2; tries += 1) {
      await ground.clock.advance(10_000);
      await ground.settled();
    }
    expect(await ground.item("work-a")).toMatchObject({ state: "pending", failures: 1 });
  });

  test("is not taken from whoever has it by then", async () => {
    await ground.add("work-a");
    await ground.give("work-a", "anna");
    // All at once: it dies, somebody takes the item away, and another one gets it.
    const release = ground.book().change("work-a", { type: "release", why: "slow" }, wish);
    const next = ground.give("work-a", "bert");
    await ground.change("anna", killed);
    await Promise.all([release, next, ground.settled()]);
    await ground.settled();
    expect(await ground.item("work-a")).toMatchObject({ state: "in-progress", flight: { sessionId: "bert" } });
    expect(await states()).toEqual(["begin in-progress", "release pending", "begin in-progress"]);
  });
});
