/** The shared suite over a runtime that is far away, slow, and answers out of order. */
import { describe, expect, it } from "vitest";
import { LATENCY_MS, makeRemoteFixture } from "./remote-fixture.ts";
import { describeRuntime } from "./runtime.ts";
import { first, useGround } from "./runtime-ground.ts";

describeRuntime("a remote runtime", makeRemoteFixture);

describe("the toy itself", () => {
  const ground = useGround(makeRemoteFixture);

  it("answers the later of two questions first, and neither at once", async () => {
    const order: string[] = [];
    const startedAt = performance.now();
    await Promise.all([
      ground.runtime.observe(first).then(() => order.push("first")),
      ground.runtime.observe(first).then(() => order.push("second")),
    ]);
    expect(order).toEqual(["second", "first"]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(LATENCY_MS);
  });

  it("keeps its sessions' files where only it looks", async () => {
    await ground.runtime.create(ground.shell(first, "echo mine > here; sleep 100"));
    expect(await ground.written("here")).toBe("mine\n");
    expect(ground.fixture.isUntouched()).toBe(true);
  });
});
