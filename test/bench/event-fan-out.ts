/**
 * Target 5: one event, until the last of 100 subscribers of the event stream
 * has it. The event is committed by the daemon for a hook's record, as in
 * target 4; the baseline does the same for its own subscribers.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createBenchHome } from "./support/bench-home.ts";
import { keepProgram } from "./support/child.ts";
import { createHttpClient, type EventFollower, followEvents } from "./support/http-client.ts";
import { alternate, atMost, compare } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import { configureStandIns, startStandIn } from "./support/stand-in.ts";
import type { Target } from "./support/target.ts";
import { cursorOf, renamed, turn } from "./turn-end.ts";

const SUBSCRIBERS = 100;

export const eventFanOut: Target = {
  number: 5,
  title: "one event, until the last of 100 subscribers has it",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    configureStandIns(home);
    const daemon = await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const claude = await startStandIn(home, client, "claude", 1024 * 1024);
    const bareDir = join(home.dir, "bare", "spool");
    mkdirSync(bareDir, { recursive: true });
    const bareSocket = join(home.dir, "bare.sock");
    const args = [bareSocket, bareDir, join(home.dir, "bare.db")];
    await keepProgram(scope, build.bare("wake-server"), { args, environment: home.environment });
    const cursor = await cursorOf(client);
    const subscribe = (socket: string, since: number): Promise<EventFollower[]> =>
      Promise.all(Array.from({ length: SUBSCRIBERS }, () => followEvents(scope, socket, since)));
    const bareFollowers = await subscribe(bareSocket, 0);
    const followers = await subscribe(home.socketPath, cursor);
    await untilQuiet(daemon.pid, 5_000);

    const last = (all: readonly EventFollower[], id: string) => async (): Promise<number> =>
      Math.max(...(await Promise.all(all.map((follower) => follower.next("turn-completed", id)))));
    const samples = await alternate({ count: rounds(100, 30), warmUp: 10, pauseMs: 0 }, [
      async () => ({ bare: await turn(renamed(claude, bareDir), last(bareFollowers, "bare")) }),
      async () => ({ reeve: await turn(renamed(claude, claude.spoolDir), last(followers, claude.id)) }),
    ]);
    add(
      compare({
        target: 5,
        what: `an event, the last of ${SUBSCRIBERS} subscribers`,
        subject: samples("reeve"),
        baseline: samples("bare"),
        baselineName: "bare Node: inotify + commit + SSE to all",
        limit: atMost(1.3),
        ofMedians: true,
      }),
    );
  },
};
