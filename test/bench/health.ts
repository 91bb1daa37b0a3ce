/**
 * Target 17: what it costs to know how everybody fares. Ten sessions are in a
 * turn, the others idle; the processor time of the daemon per look, with 1,000
 * sessions against 100. The look for left-over processes, which has its own
 * interval, is put off.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BenchHome, callerEnvironment, createBenchHome, startIdleSessions } from "./support/bench-home.ts";
import { createHttpClient } from "./support/http-client.ts";
import { atMost, compare, sleep } from "./support/measure.ts";
import { cpuMsOf } from "./support/processes.ts";
import type { Scope } from "./support/scope.ts";
import type { Target } from "./support/target.ts";

const WORKING = 10;
/** Instead of five seconds, so that there are enough looks to count. */
const INTERVAL_MS = 1_000;
/** Three whole rounds, also where the runtime is asked a tenth as often. */
const LOOKS = 30;
/** What a start leaves to be done later is done by then. */
const REST_MS = 10_000;

export const health: Target = {
  number: 17,
  title: "health of 100 and 1,000 sessions",
  async measure({ scope, build, add }) {
    const home = createBenchHome(scope, build);
    writeFileSync(join(home.dir, "worker"), WORKER, { mode: 0o755 });
    writeFileSync(join(home.dir, "config.toml"), settings(join(home.dir, "worker")));
    const daemon = await home.startDaemon();
    await startWorkers(scope, home);
    const perLook = async (): Promise<readonly number[]> => {
      await sleep(REST_MS);
      const before = cpuMsOf(daemon.pid);
      await sleep(LOOKS * INTERVAL_MS);
      return [(cpuMsOf(daemon.pid) - before) / LOOKS];
    };
    await startIdleSessions(scope, home, 100 - WORKING);
    const few = await perLook();
    await startIdleSessions(scope, home, 900);
    const many = await perLook();
    add(
      compare({
        target: 17,
        what: `processor time per look, 1,000 sessions of which ${WORKING} work`,
        subject: many,
        baseline: few,
        baselineName: "100 sessions",
        limit: atMost(2),
      }),
    );
  },
};

/** In a turn that lasts, and without a spinner: whatever draws costs more than any look. */
const WORKER = "#!/bin/sh\nprintf 'ready>'\nread -r line\nprintf 'working...'\nexec sleep 80000\n";

const settings = (worker: string): string => `[sessions]
health_interval_seconds = ${INTERVAL_MS / 1_000}
sweep_interval_seconds = 36000
stall_seconds = 36000

[agent.worker]
command = ["${worker}"]
ready = '^ready>$'
working = '^working\\.\\.\\.$'
`;

async function startWorkers(scope: Scope, home: BenchHome): Promise<void> {
  const client = createHttpClient(scope, home.socketPath);
  const environment = callerEnvironment();
  for (let count = 0; count < WORKING; count++)
    await client.postJson("/v1/sessions", { agent: "worker", prompt: "work", cwd: "/tmp", environment });
  const endsAt = performance.now() + 60_000;
  for (;;) {
    const { sessions } = await client.getJson<{ sessions: readonly { readonly turn_open: boolean }[] }>("/v1/sessions");
    if (sessions.filter(({ turn_open: isOpen }) => isOpen).length === WORKING) return;
    if (performance.now() > endsAt) throw new Error("the sessions do not work");
    await sleep(200);
  }
}
