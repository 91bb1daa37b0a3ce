/** Hung, stalled, slow, and a machine that slept: told apart. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import type { TestHome } from "../support/test-home.ts";

const settings = (stallSeconds: number): string =>
  `[sessions]\nhealth_interval_seconds = 0.5\nstall_seconds = ${stallSeconds}\n`;

async function work(home: TestHome, name: string, prompt: string, agent = "practice"): Promise<void> {
  await home.json("start", agent, "--name", name, "--cwd", home.dir, prompt);
  await eventually(`${name} works`, async () => {
    const session = await askSession(home, name);
    return session?.["activity"] === "working" && session["turn_open"] === true;
  });
}

async function verdictOf(home: TestHome, name: string): Promise<unknown> {
  return ((await askSession(home, name))?.["health"] as { readonly verdict: string } | undefined)?.verdict;
}

const becomes = (home: TestHome, name: string, verdict: string): Promise<unknown> =>
  eventually(`${name} is ${verdict}`, async () => (await verdictOf(home, name)) === verdict);

/** All that Reeve said of its health, in order. */
async function alarms(home: TestHome, name: string): Promise<readonly string[]> {
  const { session_id: id } = await home.session(name);
  return (await home.events()).flatMap(({ session_id, type, data }) => {
    if (session_id !== id) return [];
    if (type === "session-stalled") return ["stalled"];
    return type === "health-changed" ? [(data["health"] as { readonly verdict: string }).verdict] : [];
  });
}

/** The agent's own process; the one around it is not stopped with it. */
async function agentOf(home: TestHome, name: string): Promise<number> {
  const session = await askSession(home, name);
  const [agent] = home.marked(session?.session_id).filter(({ pid }) => pid !== session?.runtime.pid);
  if (agent === undefined) throw new Error(`${name} has no process`);
  return agent.pid;
}

test.concurrent("an agent stopped by a signal hangs, and no longer when it goes on", () =>
  inHome(settings(600), async (home) => {
    await work(home, "frozen", "sleep 600");
    await work(home, "waiting", "sleep 600");
    const agent = await agentOf(home, "frozen");
    process.kill(agent, "SIGSTOP");
    expect(await home.json("wait", "frozen", "--since", "0")).toMatchObject({ done: true, reason: "stalled" });
    expect(await home.session("frozen")).toMatchObject({
      need: "blocked",
      headline: `Its process does not run although it should: process ${agent} is stopped, and not by Reeve.`,
      health: { verdict: "hung", evidence: { source: "runtime" } },
      guidance: expect.stringContaining("restart it") as string,
      stalled_since: null,
    });
    expect((await home.run(["list"])).stdout).toMatch(/frozen .* hung \d+/);
    const explained = (await home.run(["explain", "frozen"])).stdout;
    expect(explained).toMatch(/Health: hung\n.*\n {2}runtime: process \d+ is stopped.*\n {2}1 process; processor time/);
    process.kill(agent, "SIGCONT");
    await becomes(home, "frozen", "healthy");
    expect(await home.session("frozen")).toMatchObject({ need: "working", turn_open: true });
    expect([await alarms(home, "frozen"), await alarms(home, "waiting")]).toEqual([["hung", "healthy"], []]);
    // Stopped by Reeve it does not hang.
    await home.json("pause", "frozen", "--suspend");
    process.kill(await agentOf(home, "waiting"), "SIGSTOP");
    await becomes(home, "waiting", "hung");
    expect(await alarms(home, "frozen")).toEqual(["hung", "healthy"]);
    process.kill(await agentOf(home, "waiting"), "SIGCONT");
  }));

/** It works until a file called `go` appears; what it runs meanwhile, as agents do, in a session of its own, uses the processor. */
const COMPILER = `#!/bin/sh
printf 'ready>'
while read -r line; do
  printf 'working...'
  setsid -w timeout 60 sh -c 'until [ -e go ]; do i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; done'
  printf '\\r\\033[Kdone\\nready>'
done
`;

test.concurrent("a model that never answers stalls; a turn that compiles is slow, and no alarm", () =>
  inHome(settings(4), async (home) => {
    const program = join(home.dir, "compiler");
    writeFileSync(program, COMPILER, { mode: 0o755 });
    home.configure(
      `${settings(4)}[agent.compiler]\ncommand = ["${program}"]\nready = '^ready>$'\nworking = '^working\\.\\.\\.$'\n`,
    );
    await work(home, "slow", "build it", "compiler");
    // The second begins to be silent when the first has been for stall_seconds; the compiler is silent all the time.
    for (const name of ["silent", "silent-too"]) {
      await work(home, name, "sleep 600");
      await becomes(home, name, "stalled");
    }
    expect(await home.session("slow")).toMatchObject({ need: "working", health: { verdict: "slow" } });
    expect(await alarms(home, "slow")).toEqual(["slow"]);
    expect(await home.session("silent")).toMatchObject({ need: "blocked", activity: "working", turn_open: true });
    expect(await alarms(home, "silent")).not.toContain("hung");
    writeFileSync(join(home.dir, "go"), "");
    expect(await home.json("wait", "slow", "--for", "turn-completed")).toMatchObject({ done: true });
    await becomes(home, "slow", "healthy");
  }));

/** Longer than any load delays a timer, and than the silence that would be a stall. */
const ASLEEP_MS = 9_000;

test.concurrent("a machine that slept raises no alarm: looked at first, then judged", () =>
  inHome(settings(6), async (home) => {
    const daemon = await home.daemonPid();
    await work(home, "sleeper", "sleep 13");
    const asleep = [daemon, await agentOf(home, "sleeper")];
    for (const pid of asleep) process.kill(pid, "SIGSTOP");
    try {
      await pass(ASLEEP_MS);
    } finally {
      for (const pid of asleep.toReversed()) process.kill(pid, "SIGCONT");
    }
    expect(await home.json("wait", "sleeper", "--since", "0")).toMatchObject({ done: true, reason: "turn-completed" });
    expect((await alarms(home, "sleeper")).filter((verdict) => verdict === "stalled" || verdict === "hung")).toEqual(
      [],
    );
  }));
