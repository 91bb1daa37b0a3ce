import { expect, test } from "vitest";
import { inertRuntime } from "./inert-runtime.ts";

test("of a runtime that is not known nothing is said but why", async () => {
  const runtime = inertRuntime("moon", "There is no runtime moon.");
  const target = { sessionId: "s", incarnation: 1 };
  const unreachable = {
    reachable: false,
    askedAt: expect.any(Number) as number,
    evidence: "There is no runtime moon.",
  };
  expect(await runtime.list()).toEqual(unreachable);
  expect(await runtime.vitals([{ target, place: null }])).toEqual(unreachable);
  expect(await runtime.observe(target)).toMatchObject({ status: "unreachable" });
});
