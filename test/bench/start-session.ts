/**
 * Target 1: a session started. Two figures, because the first answer only
 * says that the session is durably recorded; what a forked `tmux new-session`
 * gives is a process, and that is there when the session is running.
 */
import { callerEnvironment, createBenchHome, type SessionAnswer } from "./support/bench-home.ts";
import { createHttpClient, followEvents } from "./support/http-client.ts";
import { alternate, atMost, compare } from "./support/measure.ts";
import { startRawTmux } from "./support/raw-tmux.ts";
import type { Target } from "./support/target.ts";

const COMMAND = ["sleep", "100000"];
const NEW_SESSION = ["-d", "-x", "200", "-y", "50", "-c", "/tmp", "--"];

export const startSession: Target = {
  number: 1,
  title: "start a session, durably recorded",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const events = await followEvents(scope, home.socketPath, 0);
    const raw = await startRawTmux(scope, home.dir);
    const body = { agent: "command", args: COMMAND, cwd: "/tmp", environment: callerEnvironment() };
    let number = 0;

    const samples = await alternate({ count: rounds(60, 15), warmUp: 5, pauseMs: 25 }, [
      async () => ({ fork: await raw.time("new-session", "-s", `raw-${(number += 1)}`, ...NEW_SESSION, ...COMMAND) }),
      async () => {
        const startedAt = performance.now();
        const { session_id } = await client.postJson<SessionAnswer>("/v1/sessions", body);
        const answered = performance.now() - startedAt;
        return { answered, running: (await events.arrival("session-running", session_id)) - startedAt };
      },
    ]);
    const common = { target: 1, baseline: samples("fork"), baselineName: "fork tmux new-session" };
    add(
      compare({ ...common, what: "until it is running", subject: samples("running"), limit: atMost(1.25) }),
      compare({ ...common, what: "until it is durably recorded", subject: samples("answered"), limit: atMost(1.25) }),
    );
  },
};
