import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { takeCensus } from "./census.ts";

test("those who ask before a look begins share it", async () => {
  const [first, second] = await Promise.all([takeCensus(), takeCensus()]);
  expect(first).toBe(second);
  expect(await takeCensus()).not.toBe(first);
});

test("a look shows what was there when it was asked for", async () => {
  const child = spawn("sleep", ["600"], { env: { REEVE_MARK: "i.one.1" } });
  try {
    await once(child, "spawn");
    const { rows, markOf } = await takeCensus();
    expect(rows.map(({ pid }) => pid)).toContain(child.pid);
    expect(markOf(child.pid ?? 0)).toBe("i.one.1");
    expect(markOf(process.pid)).toBeNull();
  } finally {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  expect((await takeCensus()).rows.map(({ pid }) => pid)).not.toContain(child.pid);
});
