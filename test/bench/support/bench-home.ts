/**
 * A temporary home with its daemon for one measurement. Ends what it started
 * by pid and by the home's own mark, never by name, also half-way.
 */
import { rmSync } from "node:fs";
import { createTestHome, runProgram } from "../../support/test-home.ts";
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

export function createBenchHome(scope: Scope, build: Build): BenchHome {
  const home = createTestHome();
  // Failpoints cost a look at the disk each, which nobody else pays.
  const { REEVE_FAILPOINT_FILE: _, ...environment } = home.environment;
  scope.defer(async () => {
    try {
      await runProgram("tmux", ["-S", home.tmuxSocket, "kill-server"], environment);
      for (let look = 0; look < 40 && home.marked().length > 0; look += 1) {
        if (look >= 20) for (const { pid } of home.marked()) process.kill(pid, "SIGKILL");
        await sleep(50);
      }
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
    startDaemon: (variables = {}) =>
      keepProgram(scope, build.daemon, { environment: { ...environment, ...variables } }),
  };
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
  const client = createHttpClient(scope, home.socketPath, 8);
  const countRunning = async (): Promise<number> => {
    const { sessions } = await client.getJson<Listing>("/v1/sessions");
    return sessions.filter(({ state }) => state === "running").length;
  };
  const wanted = (await countRunning()) + count;
  const body = { agent: "command", args: ["sleep", "100000"], cwd: "/tmp", environment: callerEnvironment() };
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
