/** Target 10: what the daemon costs while 100 sessions sit idle: memory against the least a Node daemon can have, and CPU. */
import { join } from "node:path";
import {
  type BenchHome,
  createBenchHome,
  startIdleSessions,
  startSessionWithLargeArguments,
} from "./support/bench-home.ts";
import { keepProgram } from "./support/child.ts";
import { createHttpClient } from "./support/http-client.ts";
import { atMost, compare, NO_WORSE, sleep } from "./support/measure.ts";
import { childrenOf, measureCpu, memoryOf, untilQuiet } from "./support/processes.ts";
import type { Bench, Target } from "./support/target.ts";

/** Long enough for one sweep (every 60 s) and twelve looks at the runtime; a quick run sees four looks and no sweep. */
const WINDOW_MS = 62_000;
const QUICK_WINDOW_MS = 20_000;

export const idle: Target = {
  number: 10,
  title: "memory and idle CPU with 100 sessions",
  async measure(bench) {
    const { scope, build, isQuick, add } = bench;
    const home = createBenchHome(scope, build);
    const daemon = await startAtRest(bench, home, async () => await startIdleSessions(scope, home, 100));
    const largeHome = createBenchHome(scope, build);
    const large = await startAtRest(bench, largeHome, async () => {
      await startIdleSessions(scope, largeHome, 99);
      await startSessionWithLargeArguments(scope, largeHome);
    });
    const minimalSocket = join(home.dir, "minimal.sock");
    const args = [minimalSocket, join(home.dir, "minimal.db")];
    const minimal = await keepProgram(scope, build.bare("minimal-daemon"), { args, environment: home.environment });
    await createHttpClient(scope, minimalSocket).get("/v1/sessions");

    const pids = [daemon, large, minimal.pid, childrenOf(daemon)[0] ?? daemon] as const;
    const windowMs = isQuick ? QUICK_WINDOW_MS : WINDOW_MS;
    const meters = pids.map(measureCpu);
    const startedAt = performance.now();
    await sleep(windowMs);
    const elapsed = performance.now() - startedAt;
    const [daemonCpu = 0, largeCpu = 0, minimalCpu = 0, clientCpu = 0] = meters.map((used) => (used() / elapsed) * 100);
    const memory = { daemon: memoryOf(daemon), large: memoryOf(large), minimal: memoryOf(minimal.pid) };

    const common = { target: 10, baselineName: "minimal Node + SQLite" };
    const size = (what: string, kind: "rss" | "pss" | "private") =>
      ({ ...common, what, unit: "MB", subject: [memory.daemon[kind]], baseline: [memory.minimal[kind]] }) as const;
    const withLarge = { target: 10, baselineName: "without them", limit: NO_WORSE };
    add(
      compare({ ...size("resident memory (RSS)", "rss"), limit: atMost(1.6) }),
      compare({
        ...size("proportional memory (PSS)", "pss"),
        note: `its tmux client: ${memoryOf(pids[3]).pss.toFixed(1)} MB`,
      }),
      compare(size("private memory", "private")),
      compare({
        ...common,
        what: "idle CPU, of one core",
        unit: "%",
        subject: [daemonCpu],
        baseline: [minimalCpu],
        limit: atMost(0.2, "subject"),
        note: `over ${(elapsed / 1_000).toFixed(0)} s; its tmux client: ${clientCpu.toFixed(3)} %`,
      }),
      compare({
        ...withLarge,
        what: "memory, one with 1.8 MB of arguments",
        unit: "MB",
        subject: [memory.large.rss],
        baseline: [memory.daemon.rss],
      }),
      compare({
        ...withLarge,
        what: "idle CPU, one with 1.8 MB of arguments",
        unit: "%",
        subject: [largeCpu],
        baseline: [daemonCpu],
      }),
    );
  },
};

/** The daemon of a home with these sessions, come to rest; it has served somebody once. */
async function startAtRest({ scope }: Bench, home: BenchHome, startSessions: () => Promise<void>): Promise<number> {
  const { pid } = await home.startDaemon();
  await startSessions();
  await createHttpClient(scope, home.socketPath).get("/v1/sessions");
  await untilQuiet(pid, 10_000);
  return pid;
}
