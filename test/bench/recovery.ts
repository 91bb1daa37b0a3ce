/**
 * Target 9: the daemon is killed and started again over 100 and 1,000 living
 * sessions. It counts as back when it has said ready and every session is
 * adopted, whichever comes later.
 */
import {
  type BenchHome,
  createBenchHome,
  startIdleSessions,
  startSessionWithLargeArguments,
} from "./support/bench-home.ts";
import { timeProgram } from "./support/child.ts";
import { createHttpClient, type HttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare, NO_WORSE, sleep } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import type { Bench, Target } from "./support/target.ts";

/** What a start leaves to the background must not weigh on whatever is timed next. */
const LONGEST_REST_MS = 8_000;

export const recovery: Target = {
  number: 9,
  title: "cold start and recovery",
  async measure(bench) {
    const { scope, build, rounds, add } = bench;
    const home = createBenchHome(scope, build);
    const daemon = await keepRestarting(bench, home);
    let living = 0;
    for (const [sessions, count, limit] of [
      [100, rounds(10, 4), 4],
      [1_000, rounds(6, 2), 6],
    ] as const) {
      await startIdleSessions(scope, home, sessions - living);
      if (sessions === 100) await measureLargeArguments(bench, daemon);
      living = sessions;
      const samples = await alternate({ count, warmUp: 1, pauseMs: 0 }, [
        async () => {
          await daemon.untilQuiet();
          return { node: await timeProgram(process.execPath, ["-e", "0"], home.environment) };
        },
        () => daemon.restart(sessions),
      ]);
      const common = { target: 9, baseline: samples("node"), baselineName: "node -e 0" };
      const what = `${sessions.toLocaleString("en")} sessions`;
      add(
        compare({ ...common, what: `${what}, all adopted`, subject: samples("adopted"), limit: atMost(limit) }),
        compare({ ...common, what: `${what}, ready`, subject: samples("ready") }),
      );
    }
  },
};

/** One of the hundred has 1.8 MB of arguments, against the home in which none has, in turns. */
async function measureLargeArguments(bench: Bench, plain: Restarting): Promise<void> {
  const { scope, build, rounds, add } = bench;
  const home = createBenchHome(scope, build);
  const large = await keepRestarting(bench, home);
  await startIdleSessions(scope, home, 99);
  await startSessionWithLargeArguments(scope, home);
  const restart = async (daemon: Restarting) => {
    for (const each of [plain, large]) await each.untilQuiet();
    return (await daemon.restart(100)).adopted;
  };
  const samples = await alternate({ count: rounds(16, 6), warmUp: 1, pauseMs: 0 }, [
    async () => ({ plain: await restart(plain) }),
    async () => ({ large: await restart(large) }),
  ]);
  add(
    compare({
      target: 9,
      what: "100 sessions, one with 1.8 MB of arguments",
      subject: samples("large"),
      baseline: samples("plain"),
      baselineName: "without them",
      limit: NO_WORSE,
    }),
  );
  await large.kill();
}

interface Restarting {
  untilQuiet(): Promise<void>;
  /** Kills it, and starts it over this many living sessions. */
  restart(sessions: number): Promise<{ readonly ready: number; readonly adopted: number }>;
  kill(): Promise<void>;
}

async function keepRestarting({ scope }: Bench, home: BenchHome): Promise<Restarting> {
  let daemon = await home.startDaemon();
  const quiet = (): Promise<void> => untilQuiet(daemon.pid, LONGEST_REST_MS);
  return {
    untilQuiet: quiet,
    kill: () => daemon.kill(),
    async restart(sessions) {
      await quiet();
      const { cursor } = await createHttpClient(scope, home.socketPath).getJson<{ cursor: number }>("/v1/daemon");
      await daemon.kill();
      daemon = await home.startDaemon();
      const adoptedAt = await lastAdoption(createHttpClient(scope, home.socketPath), cursor, sessions);
      return { ready: daemon.readyMs, adopted: Math.max(daemon.readyMs, adoptedAt - daemon.startedAt) };
    },
  };
}

/** When the last of them was adopted, by the event's own time: looking for it costs the daemon nothing before. */
async function lastAdoption(client: HttpClient, after: number, sessions: number): Promise<number> {
  const endsAt = performance.now() + 60_000;
  let cursor = after;
  let latest = 0;
  for (let adopted = 0; adopted < sessions;) {
    const page = await client.getJson<Page>(`/v1/events?since=${cursor}`);
    const adoptions = page.events.filter(({ type }) => type === "session-adopted");
    adopted += adoptions.length;
    latest = adoptions.reduce((time, { at }) => Math.max(time, Date.parse(at)), latest);
    cursor = page.cursor;
    if (performance.now() > endsAt) throw new Error(`${adopted} of ${sessions} sessions were adopted`);
    if (page.events.length === 0) await sleep(20);
  }
  return latest;
}

interface Page {
  readonly events: readonly { readonly type: string; readonly at: string }[];
  readonly cursor: number;
}
