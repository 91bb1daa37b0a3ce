/**
 * Target 2: listing 10 to 10,000 sessions, against the cost of making the same
 * JSON and carrying it over a socket. One session of each list is alive, so
 * that there is a tmux to be asked; a tmux in the daemon's PATH that keeps
 * count proves that none was.
 */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createBenchHome, startIdleSessions, startSessionWithLargeArguments } from "./support/bench-home.ts";
import { keepProgram } from "./support/child.ts";
import { createHttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare, NO_WORSE, type Row, timed } from "./support/measure.ts";
import { childrenOf, untilQuiet } from "./support/processes.ts";
import { restingSession, seedSessions } from "./support/seed.ts";
import type { Bench, Target } from "./support/target.ts";

export const listSessions: Target = {
  number: 2,
  title: "list sessions",
  async measure(bench) {
    for (const [count, full, quick] of [
      [10, 300, 100],
      [100, 200, 60],
      [1_000, 60, 20],
      [10_000, 16, 6],
    ] as const) {
      bench.add(await measureList(bench, count, bench.rounds(full, quick)));
    }
    bench.add(await measureLargeArguments(bench, 100, bench.rounds(400, 120)));
  },
};

async function measureList(bench: Bench, sessions: number, count: number): Promise<Row> {
  const { scope, build } = bench;
  const { home, daemon, client, counter } = await startListed(bench, sessions, startIdle);
  const rowsPath = join(home.dir, "rows.json");
  writeFileSync(rowsPath, await client.get("/v1/sessions"));
  const bareSocket = join(home.dir, "bare.sock");
  const bare = await keepProgram(scope, build.bare("list-server"), {
    args: [bareSocket, rowsPath],
    environment: home.environment,
  });
  const bareClient = createHttpClient(scope, bareSocket);

  const before = { tmux: counter.read(), children: childrenOf(daemon.pid).join() };
  const samples = await alternate({ count, warmUp: Math.max(3, count >> 2), pauseMs: 0 }, [
    async () => ({ bare: await timed(() => bareClient.get("/")) }),
    async () => ({ list: await timed(() => client.get("/v1/sessions")) }),
  ]);
  const spawned = counter.read() - before.tmux;
  const isSame = before.children === childrenOf(daemon.pid).join();
  await Promise.all([daemon.kill(), bare.kill()]);
  return compare({
    target: 2,
    what: `list of ${sessions.toLocaleString("en")}`,
    subject: samples("list"),
    baseline: samples("bare"),
    baselineName: "stringify + round trip",
    limit: atMost(1.5),
    failed: spawned === 0 && isSame ? null : `${spawned} tmux spawned`,
    note: `${spawned} tmux spawned`,
  });
}

/** The one that lives has 1.8 MB of arguments, against a home in which it has none, in turns. */
async function measureLargeArguments(bench: Bench, sessions: number, count: number): Promise<Row> {
  const plain = await startListed(bench, sessions, startIdle);
  const large = await startListed(bench, sessions, startSessionWithLargeArguments);
  const samples = await alternate({ count, warmUp: count >> 2, pauseMs: 0 }, [
    async () => ({ plain: await timed(() => plain.client.get("/v1/sessions")) }),
    async () => ({ large: await timed(() => large.client.get("/v1/sessions")) }),
  ]);
  await Promise.all([plain.daemon.kill(), large.daemon.kill()]);
  return compare({
    target: 2,
    what: `list of ${sessions}, one with 1.8 MB of arguments`,
    subject: samples("large"),
    baseline: samples("plain"),
    baselineName: "without them",
    limit: NO_WORSE,
  });
}

const startIdle: typeof startSessionWithLargeArguments = (scope, home) => startIdleSessions(scope, home, 1);

/** A daemon with this many sessions, of which one lives, at rest and listed once. */
async function startListed({ scope, build }: Bench, sessions: number, startLiving: typeof startIdle) {
  const home = createBenchHome(scope, build);
  await seedSessions(
    home.dir,
    Array.from({ length: sessions - 1 }, (_, index) => restingSession(home.dir, index + 1)),
  );
  const counter = countTmux(home.dir, home.environment["PATH"] ?? "");
  const daemon = await home.startDaemon({ PATH: counter.path });
  await startLiving(scope, home);
  await untilQuiet(daemon.pid, 20_000);
  const client = createHttpClient(scope, home.socketPath);
  const listed = (await client.getJson<{ sessions: unknown[] }>("/v1/sessions")).sessions.length;
  if (listed !== sessions) throw new Error(`${listed} sessions are listed, not ${sessions}`);
  return { home, daemon, client, counter };
}

/** A `tmux` that notes each call and becomes the real one. */
function countTmux(directory: string, path: string): { readonly path: string; read(): number } {
  const own = join(directory, "counting");
  const calls = join(own, "calls");
  mkdirSync(own);
  writeFileSync(calls, "");
  writeFileSync(join(own, "tmux"), `#!/bin/sh\necho call >> '${calls}'\nPATH='${path}'\nexec tmux "$@"\n`);
  chmodSync(join(own, "tmux"), 0o755);
  return { path: `${own}:${path}`, read: () => readFileSync(calls, "utf8").split("\n").length - 1 };
}
