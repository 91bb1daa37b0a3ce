import { expect, test } from "vitest";
import type { Backend } from "./backend.ts";
import { entryFor, inputOf } from "./tool-call.ts";

const backend = { surroundings: async () => ({ cwd: "/here", environment: { PATH: "/bin" } }) } as unknown as Backend;

test("the caller's directory is filled in where neither the model nor a work item says one", async () => {
  const start = entryFor("start_session");
  const filled = async (given: object) => (await inputOf(start, { ...given }, backend))["cwd"];
  expect(await filled({ agent: "codex" })).toBe("/here");
  expect(await filled({ agent: "codex", work: null })).toBe("/here");
  expect(await filled({ work: "work-a" })).toBeUndefined();
  expect(await filled({ work: "work-a", cwd: "/there" })).toBe("/there");
  expect(await inputOf(entryFor("add_work"), { title: "x" }, backend)).toMatchObject({ cwd: "/here" });
});
