/** Target 10: what the daemon costs while 100 sessions sit idle: memory against the least a Node daemon can have, and CPU. */
import { join } from "node:path";
import { createBenchHome, startIdleSessions } from "./support/bench-home.ts";
import { keepProgram } from "./support/child.ts";
import { createHttpClient } from "./support/http-client.ts";
import { atMost, compare, sleep } from "./support/measure.ts";
import { childrenOf, cpuMsOf, memoryOf, untilQuiet } from "./support/processes.ts";
import type { Target } from "./support/target.ts";

/** Long enough for one sweep (every 60 s) and twelve looks at the runtime; a quick run sees four looks and no sweep. */
const WINDOW_MS = 62_000;
const QUICK_WINDOW_MS = 20_000;

export const idle: Target = {
  number: 10,
  title: "memory and idle CPU with 100 sessions",
  async measure({ scope, build, isQuick, add }) {
    const home = createBenchHome(scope, build);
    const daemon = await home.startDaemon();
    const minimalSocket = join(home.dir, "minimal.sock");
    const args = [minimalSocket, join(home.dir, "minimal.db")];
    const minimal = await keepProgram(scope, build.bare("minimal-daemon"), { args, environment: home.environment });
    await startIdleSessions(scope, home, 100);
    // Both have served somebody once.
    for (const socket of [home.socketPath, minimalSocket]) await createHttpClient(scope, socket).get("/v1/sessions");
    await untilQuiet(daemon.pid, 10_000);

    const pids = { daemon: daemon.pid, minimal: minimal.pid, client: childrenOf(daemon.pid)[0] ?? daemon.pid };
    const windowMs = isQuick ? QUICK_WINDOW_MS : WINDOW_MS;
    const before = { daemon: cpuMsOf(pids.daemon), minimal: cpuMsOf(pids.minimal), client: cpuMsOf(pids.client) };
    const startedAt = performance.now();
    await sleep(windowMs);
    const elapsed = performance.now() - startedAt;
    const percent = (who: keyof typeof pids): number => ((cpuMsOf(pids[who]) - before[who]) / elapsed) * 100;
    const cpu = { daemon: percent("daemon"), minimal: percent("minimal"), client: percent("client") };
    const memory = { daemon: memoryOf(pids.daemon), minimal: memoryOf(pids.minimal), client: memoryOf(pids.client) };

    const common = { target: 10, baselineName: "minimal Node + SQLite" };
    const size = (what: string, kind: "rss" | "pss" | "private") =>
      ({ ...common, what, unit: "MB", subject: [memory.daemon[kind]], baseline: [memory.minimal[kind]] }) as const;
    add(
      compare({ ...size("resident memory (RSS)", "rss"), limit: atMost(1.6) }),
      compare({
        ...size("proportional memory (PSS)", "pss"),
        note: `its tmux client: ${memory.client.pss.toFixed(1)} MB`,
      }),
      compare(size("private memory", "private")),
      compare({
        ...common,
        what: "idle CPU, of one core",
        unit: "%",
        subject: [cpu.daemon],
        baseline: [cpu.minimal],
        limit: atMost(0.2, "subject"),
        note: `over ${(elapsed / 1_000).toFixed(0)} s; its tmux client: ${cpu.client.toFixed(3)} %`,
      }),
    );
  },
};
