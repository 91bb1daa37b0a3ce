/** How the processes of sessions are: all in one look, and nothing is asked of them. */
import { expect, it } from "vitest";
import type { PlacedTarget, Target } from "../../src/runtime/contract.ts";
import type { ProcessVitals } from "../../src/session/process-vitals.ts";
import { eventually } from "../support/eventually.ts";
import { first, type Ground } from "./runtime-ground.ts";

export function testVitals(ground: Ground): void {
  const { shell, exists } = ground;
  const other: Target = { sessionId: "two", incarnation: 1 };

  async function create(target: Target, script: string): Promise<PlacedTarget> {
    const { place } = await ground.runtime.create(shell(target, script));
    return { target, place };
  }

  async function look(...sessions: readonly PlacedTarget[]): Promise<readonly (readonly ProcessVitals[])[]> {
    const vitals = await ground.runtime.vitals(sessions);
    if (!vitals.reachable) throw new Error(vitals.evidence);
    expect(vitals.entries.map(({ sessionId, incarnation }) => ({ sessionId, incarnation }))).toEqual(
      sessions.map(({ target }) => target),
    );
    return vitals.entries.map(({ processes }) => processes);
  }

  const cpuOf = (processes: readonly ProcessVitals[] = []): number =>
    processes.reduce((sum, { cpuMs, endedCpuMs }) => sum + cpuMs + endedCpuMs, 0);
  const stoppedIn = (processes: readonly ProcessVitals[] = []): readonly ProcessVitals[] =>
    processes.filter(({ state }) => state === "stopped");

  it("tells of several sessions at once which uses the processor, tools that left the terminal included", async () => {
    const busy = await create(first, "setsid sh -c 'while :; do :; done' & touch up; wait");
    // Without a program of its own for the file: it could still be there when it is looked at.
    const quiet = await create(other, ": > up2; exec sleep 100");
    await eventually("both are up", async () => (await exists("up")) && exists("up2"));
    const [, before = []] = await look(busy, quiet);
    const [used] = await eventually("it has used the processor", async () => {
      const [processes = [], others = []] = await look(busy, quiet);
      return cpuOf(processes) >= 300 && [processes, others];
    });
    expect(used?.filter(({ isForeground }) => isForeground).every(({ cpuMs }) => cpuMs < 300)).toBe(true);
    expect(used?.filter(({ isForeground }) => !isForeground)).toMatchObject([{ state: "able" }]);
    const [after = []] = await look(quiet);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(cpuOf(after) - cpuOf(before)).toBeLessThan(100);
  });

  it("tells a process that was stopped, until it goes on", async () => {
    const go = "(until [ -e go ]; do sleep 0.05; done; kill -CONT $$) & kill -STOP $$; touch on; sleep 100";
    const session = await create(first, go);
    const stopped = await eventually("it is stopped", async () => {
      const found = stoppedIn((await look(session))[0]);
      return found.length > 0 && found;
    });
    expect(stopped).toMatchObject([{ isForeground: true, text: expect.stringMatching(/^process \d+$/) as string }]);
    await ground.put("go", "");
    await eventually("it goes on", () => exists("on"));
    expect(stoppedIn((await look(session))[0])).toEqual([]);
  });

  it("tells that all stand still while they are suspended, and has nothing to tell of what is gone", async () => {
    const session = await create(first, "(while :; do sleep 0.2; done) & while :; do sleep 0.2; done");
    await eventually("the tree stands", async () => ((await look(session))[0]?.length ?? 0) >= 2);
    await ground.runtime.suspend(first);
    const [suspended = []] = await look(session);
    expect(suspended.length).toBeGreaterThanOrEqual(2);
    expect(stoppedIn(suspended)).toEqual(suspended);
    await ground.runtime.release(first);
    expect(stoppedIn((await look(session))[0])).toEqual([]);
    await ground.runtime.stop(first, { graceMs: 3_000 });
    expect(await look(session, { target: other, place: null })).toEqual([[], []]);
    expect(await look()).toEqual([]);
  });
}
