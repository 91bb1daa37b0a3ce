/**
 * A temporary home with its daemon for one measurement. Ends what it started
 * by pid and by the home's own mark, never by name, also half-way.
 */
import { rmSync } from "node:fs";
import { daemonEnvironment } from "../../../src/client/start-daemon.ts";
import { isDead, listProcesses, readCommandLine } from "../../../src/platform/process-table.ts";
import { removeCgroups } from "../../support/cgroup-leftovers.ts";
import { createTestHome, type TestHome } from "../../support/test-home.ts";
import type { Build } from "./build.ts";
import { type Environment, keepProgram, type Kept } from "./child.ts";
import { createHttpClient } from "./http-client.ts";
import { sleep } from "./measure.ts";
import type { Scope } from "./scope.ts";

export interface BenchHome {
  readonly dir: string;
  readonly socketPath: string;
  readonly outputsDir: string;
  readonly tmuxSocket: string;
  readonly environment: Environment;
  /** With these variables beside its own. */
  startDaemon(variables?: Environment): Promise<Kept>;
}

export function createBenchHome(scope: Scope, build: Pick<Build, "daemon">): BenchHome {
  const home = createTestHome();
  // Failpoints cost a look at the disk each, which nobody else pays.
  const { REEVE_FAILPOINT_FILE: _, ...environment } = home.environment;
  scope.defer(async () => {
    try {
      await endEverything(home);
      await removeCgroups(`${home.dir}/run`);
    } finally {
      rmSync(home.dir, { recursive: true, force: true, maxRetries: 3 });
    }
  });
  return {
    dir: home.dir,
    socketPath: home.socketPath,
    outputsDir: `${home.dir}/outputs`,
    tmuxSocket: home.tmuxSocket,
    environment,
    startDaemon(variables = {}) {
      const [script = "", ...args] = build.daemon;
      return keepProgram(scope, script, { args, environment: daemonEnvironment({ ...environment, ...variables }) });
    },
  };
}

/** Not by kill-server: tmux 3.3a waits in it for a control client whose daemon was killed, for ever. */
async function endEverything(home: TestHome): Promise<void> {
  const endsAt = performance.now() + 10_000;
  for (;;) {
    const ours = [...processesNaming(home.dir), ...home.marked().map(({ pid }) => pid)];
    if (ours.length === 0) return;
    if (performance.now() > endsAt) throw new Error(`processes ${ours.slice(0, 10).join(", ")} do not end`);
    for (const pid of ours) killIfThere(pid);
    await sleep(50);
  }
}

/** The tmux server and its clients, by their socket. */
function processesNaming(directory: string): readonly number[] {
  const rows = listProcesses().filter((row) => row.pid !== process.pid && !isDead(row));
  return rows.map(({ pid }) => pid).filter((pid) => readCommandLine(pid).includes(`${directory}/`));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone meanwhile
  }
}

/** What a person's shell would hand on. */
export function callerEnvironment(): Environment {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export interface SessionAnswer {
  readonly session_id: string;
  readonly state: string;
}

/** Idle sessions, through the API as anybody would, a few at a time; returns once all are running. */
export async function startIdleSessions(scope: Scope, home: BenchHome, count: number): Promise<void> {
  await startSessions(scope, home, count, ["sleep", "100000"]);
}

/**
 * One session that waits for a key with 1.8 MB of arguments, about the most that a program can be given, in strings
 * below the 128 KiB of one. Whoever reads command lines, or carries the record about, pays for it.
 */
export async function startSessionWithLargeArguments(scope: Scope, home: BenchHome): Promise<void> {
  const large = Array.from({ length: 15 }, (_, index) => String.fromCodePoint(97 + index).repeat(120_000));
  await startSessions(scope, home, 1, ["sh", "-c", "read -r line", "sh", ...large]);
}

async function startSessions(scope: Scope, home: BenchHome, count: number, args: readonly string[]): Promise<void> {
  const client = createHttpClient(scope, home.socketPath, 8);
  const countRunning = async (): Promise<number> => {
    const { sessions } = await client.getJson<Listing>("/v1/sessions");
    return sessions.filter(({ state }) => state === "running").length;
  };
  const wanted = (await countRunning()) + count;
  const body = { agent: "command", args, cwd: "/tmp", environment: callerEnvironment() };
  const left = Array.from({ length: count }).values();
  const starter = async (): Promise<void> => {
    for (const _ of left) await client.postJson("/v1/sessions", body);
  };
  await Promise.all(Array.from({ length: 8 }, starter));
  const endsAt = performance.now() + 120_000;
  for (;;) {
    const running = await countRunning();
    if (running === wanted) return;
    if (performance.now() > endsAt) throw new Error(`${running} of ${wanted} sessions run`);
    await sleep(200);
  }
}

export interface Listing {
  readonly sessions: readonly SessionAnswer[];
  readonly cursor: number;
}
