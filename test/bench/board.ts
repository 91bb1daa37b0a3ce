/** Target 15: the board with 100 sessions: until it is there, from an event to the screen, and what it costs at rest. */
import { dirname } from "node:path";
import { createBenchHome, startIdleSessions } from "./support/bench-home.ts";
import { openBoardTerminal } from "./support/board-terminal.ts";
import { createHttpClient, followEvents } from "./support/http-client.ts";
import { alternate, atMost, compare, sleep } from "./support/measure.ts";
import { cpuMsOf, memoryOf, untilQuiet } from "./support/processes.ts";
import type { Target } from "./support/target.ts";

const SESSIONS = 100;
const WINDOW_MS = 62_000;
const QUICK_WINDOW_MS = 20_000;
/** What one change set going is over by then. */
const PAUSE_MS = 300;

export const board: Target = {
  number: 15,
  title: "the board with 100 sessions",
  async measure({ scope, build, isQuick, rounds, add }) {
    const home = createBenchHome(scope, build);
    const daemon = await home.startDaemon();
    await startIdleSessions(scope, home, SESSIONS);
    const client = createHttpClient(scope, home.socketPath);
    await untilQuiet(daemon.pid, 10_000);
    const path = `${dirname(process.execPath)}:${home.environment["PATH"] ?? ""}`;
    const environment = { ...home.environment, PATH: path };
    const open = (command: string) => openBoardTerminal(scope, home.dir, environment, command);

    /** From the start of its terminal to the first time it shows this. */
    const shown = async (command: string, text: string): Promise<number> => {
      const startedAt = performance.now();
      const terminal = open(command);
      const at = await terminal.writes(text);
      await terminal.close();
      return at - startedAt;
    };
    const starts = await alternate({ count: rounds(20, 6), warmUp: 2, pauseMs: 100 }, [
      async () => ({ node: await shown("node -e 'console.log(\"of 100\");setTimeout(()=>{},9999)'", "of 100") }),
      async () => ({ board: await shown(`'${build.cli}'`, `of ${SESSIONS}`) }),
    ]);
    add(
      compare({
        target: 15,
        what: "start, until every session is shown",
        subject: starts("board"),
        baseline: starts("node"),
        baselineName: "node -e 'console.log()' there",
      }),
    );

    const terminal = open(`'${build.cli}'`);
    await terminal.writes(`of ${SESSIONS}`);
    const pid = await terminal.pid();
    const { sessions } = await client.getJson<{ sessions: { session_id: string }[] }>("/v1/sessions");
    const first = sessions[0]?.session_id ?? "";
    const { cursor } = await client.getJson<{ readonly cursor: number }>("/v1/daemon");
    const events = await followEvents(scope, home.socketPath, cursor);
    /** Each from the moment in which it was asked for. */
    const samples = { event: [] as number[], screen: [] as number[] };
    for (let round = 0; round < rounds(60, 15); round += 1) {
      // To and fro: it is counted in the first line of the board.
      const [verb, type, text] =
        round % 2 === 0
          ? (["pause", "session-paused", "1 paused"] as const)
          : (["resume", "session-resumed", `${SESSIONS} working`] as const);
      const arrivals = [events.next(type, first), terminal.writes(text)] as const;
      const askedAt = performance.now();
      await client.postJson(`/v1/sessions/${first}/${verb}`, {});
      const [event, screen] = await Promise.all(arrivals);
      samples.event.push(event - askedAt);
      samples.screen.push(screen - askedAt);
      await sleep(PAUSE_MS);
    }
    add(
      compare({
        target: 15,
        what: "from a pause or resume to the screen",
        subject: samples.screen,
        baseline: samples.event,
        baselineName: "… to a client of the event stream",
      }),
    );
    const late = samples.screen.map((at, index) => Math.max(0.01, at - (samples.event[index] ?? at)));
    const roundTrips = await alternate({ count: late.length, warmUp: 3, pauseMs: 0 }, [
      async () => {
        const startedAt = performance.now();
        await client.get(`/v1/sessions/${first}`);
        return { get: performance.now() - startedAt };
      },
    ]);
    add(
      compare({
        target: 15,
        what: "from an event on the stream to the screen",
        subject: late,
        baseline: roundTrips("get"),
        baselineName: "one GET of the session",
        limit: atMost(50, "subject"),
        ofMedians: true,
      }),
    );

    await untilQuiet(pid, 5_000);
    const before = { cpu: cpuMsOf(pid), daemon: cpuMsOf(daemon.pid), bytes: terminal.bytes() };
    const startedAt = performance.now();
    await sleep(isQuick ? QUICK_WINDOW_MS : WINDOW_MS);
    const elapsed = performance.now() - startedAt;
    const percent = (ms: number): number => (ms / elapsed) * 100;
    add(
      compare({
        target: 15,
        what: "idle CPU, of one core",
        unit: "%",
        subject: [percent(cpuMsOf(pid) - before.cpu)],
        baseline: [percent(cpuMsOf(daemon.pid) - before.daemon)],
        baselineName: "the daemon meanwhile",
        limit: atMost(0.5, "subject"),
        note: `${(((terminal.bytes() - before.bytes) / elapsed) * 1_000).toFixed(0)} bytes/s to the terminal; ${memoryOf(pid).pss.toFixed(0)} MB (PSS)`,
      }),
    );
  },
};
