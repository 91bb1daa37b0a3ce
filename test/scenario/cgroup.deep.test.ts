/**
 * What a session's own cgroup gives a user: its end takes along what hides, and says what proves it;
 * where there is none it says so. What a killed daemon left is swept, and a daemon started inside a session is no part
 * of it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { cgroupOf, isPopulated } from "../../src/platform/cgroup.ts";
import { isDead, listProcesses, readCommandLine } from "../../src/platform/process-table.ts";
import { createSessionCgroups } from "../../src/runtime/tmux/session-cgroups.ts";
import { cgroupsLeft } from "../support/cgroup-leftovers.ts";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const SWEEPING = "[sessions]\norphan_grace_seconds = 0\nsweep_interval_seconds = 0.3\n";
const log = (): void => undefined;
const impediment = createSessionCgroups({ instance: "probe", runDir: "/none", isEnabled: true, log }).impediment();

let home: TestHome;
beforeEach(() => {
  home = createTestHome();
});
afterEach(() => home.dispose());

async function run(name: string, script: string): Promise<string> {
  const command = ["start", "command", "--name", name, "--cwd", home.dir, "--", "sh", "-c", script];
  const { session_id } = await home.json<{ session_id: string }>(...command);
  // One that ends soon may have ended before anybody looks.
  const begun = ["running", "stopped"];
  await eventually(`${name} runs`, async () => begun.includes((await home.session(name)).state));
  return session_id;
}

/** By a command line that no other test uses. */
const pidsOf = (words: string): readonly number[] =>
  listProcesses()
    .filter((row) => !isDead(row) && readCommandLine(row.pid) === words)
    .map(({ pid }) => pid);

const HIDING = "env -i setsid sh -c 'sleep 7201 &'; (env -i setsid sh -c 'exec sleep 7202' &); echo up; sleep 600";

describe.skipIf(impediment !== null)("with cgroups", () => {
  const runDir = (): string => join(home.dir, "run");

  test("end takes along what hides, and says that the kernel proves it", async () => {
    await run("hiding", HIDING);
    await eventually("it hides", () => pidsOf("sleep 7201").length === 1 && pidsOf("sleep 7202").length === 1);
    expect(home.marked().map(({ pid }) => pid)).not.toContain(pidsOf("sleep 7201")[0]);
    const { stdout } = await home.run(["end", "hiding"]);
    expect(stdout).toMatch(/Ended on request\. All \d+ processes ended.* \(checked in the session's cgroup\)\./);
    expect([...pidsOf("sleep 7201"), ...pidsOf("sleep 7202")]).toEqual([]);
    expect(cgroupsLeft(runDir())).toEqual([]);
  });

  test("what outlives the process by hiding is ended too", async () => {
    await run("short", "env -i setsid sh -c 'sleep 7203 &'; sleep 0.2; exit 0");
    await eventually("it ended by itself", async () => (await home.session("short")).state === "stopped");
    await eventually("and what hid with it", () => pidsOf("sleep 7203").length === 0);
  });

  test("pause --suspend freezes what hides, across a restart of the daemon; resume and restart go on from there", async () => {
    const ticking = "env -i PATH=\"$PATH\" setsid sh -c 'while :; do echo x >> ticks; sleep 0.02; done' & sleep 600";
    const id = await run("paused", ticking);
    const ticks = (): number => (existsSync(join(home.dir, "ticks")) ? statSync(join(home.dir, "ticks")).size : 0);
    await eventually("it ticks", () => ticks() > 2);
    await home.json("pause", "paused", "--suspend");
    await home.killDaemon();
    expect(await home.session("paused")).toMatchObject({ state: "paused", liveness: "running" });
    const frozen = ticks();
    const [, cgroup = ""] = cgroupsLeft(runDir());
    expect(readFileSync(join(cgroup, "cgroup.events"), "utf8")).toContain("frozen 1");
    expect(ticks()).toBe(frozen);
    await home.json("resume", "paused");
    await eventually("it ticks again", () => ticks() > frozen);
    await home.json("pause", "paused", "--suspend");
    await home.json("restart", "paused");
    await eventually("only the new one is there", () => home.marked(id).every(({ incarnation }) => incarnation === 2));
    expect(cgroupsLeft(runDir()).map((path) => path.split("/").at(-1))).toContain(`${id}.2`);
    expect(cgroupsLeft(runDir())).toHaveLength(2);
  });

  test("what a killed daemon left behind is swept, with whatever hides in it", async () => {
    home.configure(SWEEPING);
    await run("other", "sleep 600");
    const [group = ""] = cgroupsLeft(runDir());
    for (const name of ["forgotten.1", "empty.3"]) mkdirSync(join(group, name));
    const enter = `echo 0 > "${group}/forgotten.1/cgroup.procs"; env -i setsid sleep 7204 >/dev/null 2>&1 </dev/null &`;
    await runProgram("sh", ["-c", enter], home.environment);
    await eventually(
      "both are reaped",
      async () => (await home.events()).filter((event) => event.type === "orphan-reaped").length === 2,
    );
    expect(pidsOf("sleep 7204")).toEqual([]);
    expect(cgroupsLeft(runDir())).toHaveLength(2);
    expect(await home.session("other")).toMatchObject({ state: "running" });
  });

  test("a daemon started from inside a session leaves its cgroup, and survives its end", async () => {
    const reeve = join(import.meta.dirname, "..", "..", "bin", "reeve");
    await run("starter", `while ! [ -e go ]; do sleep 0.05; done; '${reeve}' list && touch done; sleep 600`);
    const before = await home.killDaemon();
    writeFileSync(join(home.dir, "go"), "");
    await eventually("the session started one", () => existsSync(join(home.dir, "done")));
    const daemon = await home.daemonPid();
    expect(daemon).not.toBe(before);
    const cgroup = cgroupOf(daemon);
    expect("dir" in cgroup && cgroup.dir).not.toContain("/reeve-");
    expect((await home.run(["end", "starter"])).stdout).toContain("(checked in the session's cgroup)");
    expect(await home.daemonPid()).toBe(daemon);
  });

  test("doctor says what an end proves", async () => {
    await run("any", "sleep 600");
    expect((await home.run(["doctor"])).stdout).toMatch(/ok +ending +Each session has a cgroup of its own/);
  });

  test("an end that was overtaken by a crash says no less", async () => {
    await run("crashing", HIDING);
    await eventually("it hides", () => pidsOf("sleep 7201").length === 1);
    home.failAt("stop.after-signals");
    const { stdout } = await home.run(["end", "crashing"]);
    expect(home.isFailpointArmed()).toBe(false);
    expect(stdout).toContain("(checked in the session's cgroup)");
    expect(pidsOf("sleep 7201")).toEqual([]);
  });

  test("is the session's alone: ending one leaves the others", async () => {
    const [one, two] = [await run("one", "sleep 600"), await run("two", "sleep 600")];
    const own = (): readonly string[] =>
      cgroupsLeft(runDir()).filter((path) => path.endsWith(`${one}.1`) || path.endsWith(`${two}.1`));
    // A session runs as soon as its pane is there; its program goes into the cgroup just before it begins.
    await eventually("both programs are in theirs", () => own().filter(isPopulated).length === 2);
    expect(own().length).toBe(2);
    const wrapper = cgroupOf((await home.session("one")).runtime.pid ?? 0);
    expect("dir" in wrapper && wrapper.dir).not.toContain(one);
    await home.json("end", "one");
    expect(await home.session("two")).toMatchObject({ state: "running", liveness: "running" });
  });
});

test("without cgroups an end says what was proven and what could not be seen, and doctor warns", async () => {
  home.configure("[sessions]\ncgroups = false\n");
  await run("plain", "sleep 7211 & sleep 7212");
  await eventually("both are there", () => pidsOf("sleep 7211").length === 1 && pidsOf("sleep 7212").length === 1);
  expect((await home.run(["doctor"])).stdout).toMatch(/warning +ending/);
  const { stdout } = await home.run(["end", "plain"]);
  expect(stdout).toMatch(
    /All \d+ processes of the session ended; a process that removed REEVE_MARK from its environment would not/,
  );
  expect(stdout).toContain("(no cgroup here: cgroups are switched off in config.toml)");
});
