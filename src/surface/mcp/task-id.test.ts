import { describe, expect, it } from "vitest";
import type { TaskWait } from "./task-id.ts";
import { decodeTask, encodeTask } from "./task-id.ts";

const wait: TaskWait = {
  sessions: ["abcdefghjk", "bcdefghjkm"],
  mode: "all",
  for: ["exited"],
  since: 41,
  createdAt: 1_790_000_000_000,
  endsAt: 1_790_000_600_000,
  before: [{ id: "cdefghjkmn", name: "early", reason: "exited", ok: false }],
};
const idOf = (fields: unknown): string => Buffer.from(JSON.stringify(fields)).toString("base64url");

describe("the id of a task", () => {
  it("carries the whole wait", () => {
    expect(decodeTask(encodeTask(wait))).toEqual(wait);
  });

  it("is not made where it would be too long", () => {
    const sessions = Array.from({ length: 1_000 }, (_, index) => `session-${index}`);
    expect(encodeTask({ ...wait, sessions })).toBeNull();
  });

  it.each([
    ["nothing", undefined],
    ["a number", 7],
    ["no base64", "%%%"],
    ["no JSON", Buffer.from("hello").toString("base64url")],
    ["no list", idOf({})],
    ["another version", idOf([2, ["a"], "any", [], 1, 1, 0, []])],
    ["nobody to wait for", idOf([1, [], "any", [], 1, 1, 0, []])],
    ["no session", idOf([1, [{}], "any", [], 1, 1, 0, []])],
    ["no mode", idOf([1, ["a"], "some", [], 1, 1, 0, []])],
    ["no cursor", idOf([1, ["a"], "any", [], -1, 1, 0, []])],
    ["a moment that no date has", idOf([1, ["a"], "any", [], 1, 9e15, 0, []])],
    ["no outcome", idOf([1, ["a"], "any", [], 1, 1, 0, [["a", "b"]]])],
    ["too much", "a".repeat(10_000)],
  ])("is refused if it is %s", (_, id) => {
    expect(() => decodeTask(id)).toThrow("This is not the id of a task");
  });
});
