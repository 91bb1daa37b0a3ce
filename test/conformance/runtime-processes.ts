/** A session's process tree: ended to the last, swept by mark, suspended and released. */
import { expect, it } from "vitest";
import type { Target } from "../../src/runtime/contract.ts";
import type { NamedProcess } from "../../src/session/session.ts";
import { eventually } from "../support/eventually.ts";
import { first, type Ground, second } from "./runtime-ground.ts";

const GRACE = { graceMs: 3_000 } as const;

export function testProcesses(ground: Ground): void {
  const { shell, path, exists, exit } = ground;
  const living = (): number => ground.fixture.census().living;

  it("ends a tree that ignores HUP and TERM, and what left it", async () => {
    const stubborn = "trap '' HUP TERM INT; while :; do sleep 0.1; done";
    const script = `setsid sh -c "${stubborn}" & (setsid sh -c "(${stubborn}) &") & ${stubborn}`;
    await ground.runtime.create(shell(first, script));
    // The wrapper and three shells; their sleeps come and go faster than a busy machine can be listed.
    await eventually("the tree stands", () => living() >= 4);
    const report = await ground.runtime.stop(first, { graceMs: 200 });
    expect(report.survivors).toEqual([]);
    expect(report.killed).toBeGreaterThan(0);
    expect(living()).toBe(0);
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "exited", signal: "SIGKILL" });
    expect(await ground.runtime.retainsEnvironment("one")).toBe(true);
  });

  it("ends politely where that is enough, and hurries when told", async () => {
    await ground.runtime.create(shell(first, "trap 'exit 9' TERM; touch up; while :; do sleep 0.05; done"));
    await eventually("the trap stands", () => exists("up"));
    expect(await ground.runtime.stop(first, GRACE)).toMatchObject({ killed: 0, survivors: [] });
    expect(await exit(first)).toEqual({ code: 9, signal: null });

    const stubborn: Target = { sessionId: "two", incarnation: 1 };
    await ground.runtime.create(shell(stubborn, "trap '' TERM; while :; do sleep 0.05; done"));
    const hurry = new AbortController();
    const stopping = ground.runtime.stop(stubborn, { graceMs: 60_000, hurry: hurry.signal });
    hurry.abort();
    expect(await stopping).toMatchObject({ survivors: [] });
  });

  it("finds what outlived its process, and ends it", async () => {
    await ground.runtime.create(shell(first, "setsid sleep 100 & sleep 0.1; exit 0"));
    await exit(first);
    const strays = await ground.runtime.findStrays(() => false);
    expect(strays).toMatchObject([{ ...first, what: expect.stringContaining("(sleep 100)") }]);
    expect(await ground.runtime.findStrays((target) => target.sessionId === "one")).toEqual([]);
    expect(await ground.runtime.stop(first, GRACE)).toMatchObject({ terminated: 1, survivors: [] });
    expect(await ground.runtime.findStrays(() => false)).toEqual([]);
    await ground.runtime.destroy(first);
    expect(await ground.runtime.stop(first, GRACE)).toMatchObject({ terminated: 0, survivors: [] });
  });

  it("tells which process is of which incarnation", async () => {
    const pidIn = async (file: string): Promise<NamedProcess> =>
      ground.fixture.named(Number(await ground.written(file)));
    await ground.runtime.create(shell(first, "sh -c 'echo $$ > a; mv a one; exec sleep 100'"));
    const one = await pidIn("one");
    expect(await ground.runtime.owns(first, one)).toBe(true);
    expect(await ground.runtime.owns(second, one)).toBe(false);
    expect(await ground.runtime.lives(one)).toBe(true);
    expect(await ground.runtime.owns(first, { ...one, startTicks: "1" })).toBe(false);
    expect(await ground.runtime.owns(first, ground.fixture.named(process.pid))).toBe(false);
    await ground.runtime.stop(first, GRACE);
    expect(await ground.runtime.owns(first, one)).toBe(false);
    expect(await ground.runtime.lives(one)).toBe(false);
    expect(await ground.runtime.lives(ground.fixture.named(process.pid))).toBe(true);
  });

  it("suspends and releases the whole tree", async () => {
    await ground.runtime.create(shell(first, "(while :; do sleep 0.2; done) & while :; do sleep 0.2; done"));
    await eventually("the tree stands", () => living() >= 3);
    expect(await ground.runtime.suspend(first)).toMatch(/stopped/);
    const frozen = ground.fixture.census();
    expect(frozen.still).toBeGreaterThanOrEqual(2);
    // The place's own process may go on: it reports how the others end.
    expect(frozen.living - frozen.still).toBeLessThanOrEqual(1);
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "running" });
    expect(await ground.runtime.release(first)).toMatch(/runs? again/);
    expect(ground.fixture.census().still).toBe(0);
    await ground.runtime.suspend(first);
    expect(await ground.runtime.stop(first, GRACE)).toMatchObject({ killed: 0, survivors: [] });
  });

  it("lists the files that any process of the tree holds open, and of no other session", async () => {
    const other: Target = { sessionId: "two", incarnation: 1 };
    const hold = (name: string): string => `exec 9>${name} 8>gone; rm gone; touch ${name}-up; sleep 100`;
    const { place } = await ground.runtime.create(shell(first, `setsid sh -c '${hold("mine")}' & wait`));
    await ground.runtime.create(shell(other, hold("theirs")));
    await eventually("both hold theirs", async () => (await exists("mine-up")) && exists("theirs-up"));
    const files = await ground.runtime.openFiles(first, place);
    expect(files).toContain(path("mine"));
    expect(files).not.toContain(path("theirs"));
    expect(files.filter((file) => !file.startsWith("/") || file.includes("gone"))).toEqual([]);
    expect(await ground.runtime.openFiles(first, null)).toContain(path("mine"));
    await ground.runtime.stop(first, GRACE);
    expect(await ground.runtime.openFiles(first, place)).toEqual([]);
    expect(await ground.runtime.openFiles({ sessionId: "nobody", incarnation: 1 }, null)).toEqual([]);
  });
}
