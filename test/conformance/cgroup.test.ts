/**
 * A cgroup for each session: what hides from its mark is seen, ended and frozen all the same, the end is
 * proven by the kernel, and where there is no cgroup that is said. Needs a cgroup v2 tree that can be written; where
 * there is none only the last part runs.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { cgroupOf, isPopulated, subgroupsOf } from "../../src/platform/cgroup.ts";
import { isAlive, isDead, listProcesses, readCommandLine, readProcess } from "../../src/platform/process-table.ts";
import { createSessionCgroups } from "../../src/runtime/tmux/session-cgroups.ts";
import { ensureWrapper } from "../../src/runtime/tmux/wrapper.ts";
import { cgroupsLeft } from "../support/cgroup-leftovers.ts";
import { eventually } from "../support/eventually.ts";
import { standsStill } from "../support/stands-still.ts";
import { markedProcesses } from "./local-ground.ts";
import { first, second, useGround } from "./runtime-ground.ts";
import { panePlace, makeTmuxFixture } from "./tmux-fixture.ts";

const impediment = createSessionCgroups({
  instance: "probe",
  runDir: "/nonexistent",
  isEnabled: true,
  log: () => undefined,
}).impediment();
const canUnshare = works("unshare", "-Urpf", "true");

function works(...[command = "", ...args]: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Of a command line that no other test uses. */
function running(words: string): readonly { readonly pid: number; readonly startTicks: string }[] {
  return listProcesses().filter((row) => !isDead(row) && readCommandLine(row.pid) === words);
}

const HIDING = {
  "without its environment, in a session of its own, its parent gone": {
    script: "env -i setsid sh -c 'sleep 7101 &'",
    words: "sleep 7101",
    isPossible: true,
  },
  "in namespaces of its own": {
    script: "env -i setsid unshare -Urpf sleep 7102 &",
    words: "sleep 7102",
    isPossible: canUnshare,
  },
  "as another process 1": {
    script: "env -i setsid unshare -pf sleep 7103 &",
    words: "sleep 7103",
    isPossible: works("unshare", "-pf", "true"),
  },
  "by writing over its own environment": {
    script: `setsid perl -e '$0 = "hidden" . ("x" x 6000); $0 = "hidden-7104"; sleep 7104' &`,
    words: "hidden-7104",
    isPossible: works("perl", "-e", "1"),
  },
} as const;
const hiding = Object.entries(HIDING).filter(([, { isPossible }]) => isPossible);
const HIDE_ALL = hiding.map(([, { script }]) => script).join("\n");

describe.skipIf(impediment !== null)("a session in its own cgroup", () => {
  const ground = useGround(() => makeTmuxFixture());
  const { shell } = ground;
  const hidden = (): readonly { readonly pid: number; readonly startTicks: string }[] =>
    hiding.flatMap(([, { words }]) => running(words)).filter(({ pid }) => isOfThis(pid));
  const isOfThis = (pid: number): boolean => {
    const cgroup = cgroupOf(pid);
    return "dir" in cgroup && cgroup.dir.includes(`/reeve-${ground.fixture.instance}/`);
  };
  const startHiding = async (more = "sleep 100") => {
    await ground.runtime.create(shell(first, `${HIDE_ALL}\n${more}`));
    return eventually("all of them hide", () => hidden().length >= hiding.length && hidden());
  };

  it.each(hiding)("ends what hides %s, and says what proves it", async (_, { script, words }) => {
    await ground.runtime.create(shell(first, `${script}\nsleep 100`));
    const found = await eventually("it hides", () => {
      const rows = running(words).filter(({ pid }) => isOfThis(pid));
      return rows.length > 0 && rows;
    });
    expect(markedProcesses(ground.fixture.instance)).not.toEqual(expect.arrayContaining(found.map(({ pid }) => pid)));
    const report = await ground.runtime.stop(first, { graceMs: 300 });
    expect(report).toMatchObject({ survivors: [] });
    expect(report.evidence).toMatch(/^All \d+ processes ended.* \(checked in the session's cgroup\)\.$/);
    expect(found.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]);
    await ground.runtime.destroy(first);
    expect(cgroupsLeft(ground.fixture.runDir)).toEqual([]);
  });

  it("ends what forks faster than anybody can look", async () => {
    const flood = "f() { setsid sh -c 'env -i sleep 7105 &' & }; while :; do f; f; f; sleep 0.01; done";
    await ground.runtime.create(shell(first, flood));
    await eventually("there are many", () => running("sleep 7105").filter(({ pid }) => isOfThis(pid)).length > 20);
    expect(await ground.runtime.stop(first, { graceMs: 0 })).toMatchObject({ survivors: [] });
    expect(running("sleep 7105").filter(({ pid }) => isOfThis(pid))).toEqual([]);
  });

  it("freezes all of it, and lets it go on", async () => {
    const found = await startHiding();
    expect(await ground.runtime.suspend(first)).toMatch(
      /^\d+ processes are stopped \(frozen in the session's cgroup\)$/,
    );
    expect(found.map(({ pid }) => standsStill(pid))).toEqual(found.map(() => true));
    expect(await ground.runtime.observe(first)).toMatchObject({ status: "running" });
    expect(await ground.runtime.release(first)).toMatch(/^\d+ processes run again$/);
    expect(found.map(({ pid }) => standsStill(pid))).toEqual(found.map(() => false));
    await ground.runtime.suspend(first);
    expect(await ground.runtime.stop(first, { graceMs: 300 })).toMatchObject({ survivors: [] });
  });

  it("is found again by the next daemon, frozen or not", async () => {
    const found = await startHiding();
    await ground.runtime.suspend(first);
    await ground.runtime.close();
    const next = ground.fixture.reopen();
    expect(await next.release(first)).toMatch(/runs? again/);
    const { evidence, survivors } = await next.stop(first, { graceMs: 300 });
    expect({ survivors, evidence }).toMatchObject({ survivors: [], evidence: expect.stringContaining("cgroup") });
    expect(found.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]);
  });

  it("outlives the tmux server, and what is left in it is listed, found and ended", async () => {
    const found = await startHiding();
    process.kill(ground.fixture.serverPid(), "SIGKILL");
    await eventually("it is absent", async () => (await ground.runtime.observe(first)).status === "absent");
    expect(await ground.runtime.list()).toMatchObject({ entries: [{ ...first, presence: { status: "absent" } }] });
    const strays = await ground.runtime.findStrays(() => false);
    const named = strays.map(({ what }) => what.split(" (", 1)[0]);
    expect(named).toEqual(expect.arrayContaining(found.map(({ pid }) => `process ${pid}`)));
    expect(strays.every((stray) => stray.sessionId === "one" && stray.incarnation === 1)).toBe(true);
    // Nothing new starts beside it.
    await expect(ground.runtime.create(shell(second, "sleep 100"))).rejects.toMatchObject({ code: "still-running" });
    await expect(ground.runtime.destroy(first)).rejects.toMatchObject({ code: "still-running" });
    expect(await ground.runtime.stop(first, { graceMs: 300 })).toMatchObject({ survivors: [] });
    expect((await ground.runtime.create(shell(second, "sleep 100"))).isNew).toBe(true);
    expect(await ground.runtime.list()).toMatchObject({ entries: [second] });
  });

  it("stays, empty, with the place, and goes with it or with the next incarnation", async () => {
    await ground.runtime.create(shell(first, "exit 3"));
    await ground.exit(first);
    const [group = "", cgroup = ""] = cgroupsLeft(ground.fixture.runDir);
    expect(basename(cgroup)).toBe("one.1");
    const { evidence } = await ground.runtime.stop(first, { graceMs: 300 });
    expect(evidence).toBe("No process was left (checked in the session's cgroup).");
    await ground.runtime.create(shell(second, "sleep 100", { environment: null }));
    expect(subgroupsOf(group)).toEqual(["one.2"]);
    await ground.runtime.stop(second, { graceMs: 300 });
    await ground.runtime.destroy(second);
    expect(subgroupsOf(group)).toBe(null);
  });

  it("holds the program and what it starts, and not the shell that reports how it ended", async () => {
    const created = await ground.runtime.create(shell(first, "cat /proc/self/cgroup > a; mv a mine; sleep 100"));
    const place = panePlace(created.place);
    expect(await ground.written("mine")).toContain(`/reeve-${ground.fixture.instance}/one.1\n`);
    expect(isOfThis(place.pid)).toBe(false);
    process.kill(Number(readFileSync(`/proc/${place.pid}/task/${place.pid}/children`, "utf8")), "SIGKILL");
    expect(await ground.exit(first)).toEqual({ code: 137, signal: "SIGKILL" });
  });

  it("is entered, or removed so that nothing is proven by it", () => {
    const wrapper = ensureWrapper(ground.fixture.runDir);
    const own = cgroupOf("self");
    const base = join("dir" in own ? own.dir : "", `reeve-${ground.fixture.instance}`);
    mkdirSync(join(base, "threads"), { recursive: true });
    writeFileSync(join(ground.fixture.runDir, "cgroups.json"), JSON.stringify([base])); // removed with the fixture
    // Beside a group for threads no process may enter one that was made later.
    writeFileSync(join(base, "threads", "cgroup.type"), "threaded");
    mkdirSync(join(base, "closed"));
    const run = (cgroup: string): string =>
      execFileSync("sh", [wrapper, "i.one.1", cgroup, "/", "", "cat", "/proc/self/cgroup"], { encoding: "utf8" });
    expect(run(join(base, "closed"))).not.toContain("closed");
    expect(subgroupsOf(join(base, "closed"))).toBe(null);
    rmdirSync(join(base, "threads"));
    mkdirSync(join(base, "good"));
    expect(run(join(base, "good"))).toContain("/good\n");
    expect(isPopulated(join(base, "good"))).toBe(false);
    expect(() => run(join(base, "gone"))).toThrow(/126|cannot enter/);
  });

  it("is not killed with Reeve itself in it", async () => {
    await ground.runtime.create(shell(first, "trap '' TERM; while :; do sleep 0.1; done"));
    const [, cgroup = ""] = cgroupsLeft(ground.fixture.runDir);
    const server = ground.fixture.serverPid();
    writeFileSync(join(cgroup, "cgroup.procs"), String(server));
    const { evidence, survivors } = await ground.runtime.stop(first, { graceMs: 100 });
    expect({ evidence, survivors }).toMatchObject({
      survivors: [],
      evidence: expect.stringContaining("no cgroup here: Reeve itself runs in the session's cgroup"),
    });
    expect(readProcess(server)).not.toBe(null);
    await ground.runtime.destroy(first); // an end is not held up by it
    writeFileSync(join(cgroup, "..", "..", "cgroup.procs"), String(server));
  });
});

describe("without a cgroup", () => {
  const ground = useGround(() => makeTmuxFixture({ cgroups: false }));

  it("the end says what was proven, and what could not be seen", async () => {
    await ground.runtime.create(ground.shell(first, "env -i setsid sleep 7106 & sleep 100 & sleep 100"));
    const found = await eventually("it hides", () => running("sleep 7106").length > 0 && running("sleep 7106"));
    // Still below the pane's process: seen by its descent.
    expect(await ground.runtime.stop(first, { graceMs: 2_000 })).toMatchObject({
      survivors: [],
      evidence: expect.stringMatching(
        /^All \d+ processes of the session ended; a process that removed REEVE_MARK from its environment would not be seen \(no cgroup here: cgroups are switched off in config.toml\)\.$/,
      ),
    });
    expect(found.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]);
    expect(await ground.runtime.endProof()).toMatchObject({
      isWhole: false,
      text: expect.stringContaining("no cgroup here: cgroups are switched off in config.toml"),
    });
    expect(cgroupsLeft(ground.fixture.runDir)).toEqual([]);
  });
});
