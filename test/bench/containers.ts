/**
 * Target 19: sessions in containers. A start against the engine's own create and start of the same container with the
 * program alone in it, both until the program has made a file in its directory; a send against one to a local pane; and
 * what the daemon costs while 20 containers sit idle.
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { containerSpec } from "../../src/runtime/docker/container-spec.ts";
import { type DockerEngine, engineImpediment, startDockerEngine } from "../support/docker-engine.ts";
import { SESSION_IMAGE } from "../support/session-image.ts";
import { type BenchHome, callerEnvironment, createBenchHome, type SessionAnswer } from "./support/bench-home.ts";
import { createHttpClient, type EventFollower, followEvents, type HttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare, sleep } from "./support/measure.ts";
import { measureCpu, untilQuiet } from "./support/processes.ts";
import type { Bench, Target } from "./support/target.ts";

const IDLE_CONTAINERS = 20;
const WINDOW_MS = 62_000;
const QUICK_WINDOW_MS = 20_000;
const LONGEST_START_MS = 30_000;

interface Ground {
  readonly engine: DockerEngine;
  readonly home: BenchHome;
  readonly client: HttpClient;
  readonly events: EventFollower;
  readonly work: string;
}

export const containers: Target = {
  number: 19,
  title: "sessions in containers",
  impediment: engineImpediment,
  async measure(bench) {
    const { scope, build, isQuick } = bench;
    const engine = await startDockerEngine({ liveRestore: true });
    scope.defer(() => engine.dispose());
    const home = createBenchHome(scope, build);
    const settings = `[docker]\nhost = "${engine.host}"\nimage = "${SESSION_IMAGE}"\nmemory = "256m"\n`;
    writeFileSync(join(home.dir, "config.toml"), settings);
    const daemon = await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const events = await followEvents(scope, home.socketPath, 0);
    const work = join(home.dir, "work");
    mkdirSync(work);
    const ground = { engine, home, client, events, work };
    await measureStarts(bench, ground);
    await measureSends(bench, ground);
    await measureIdle(bench, ground, { pid: daemon.pid, windowMs: isQuick ? QUICK_WINDOW_MS : WINDOW_MS });
  },
};

async function measureStarts({ rounds, add }: Bench, ground: Ground): Promise<void> {
  const { engine, home, client, events, work } = ground;
  let number = 0;
  const samples = await alternate({ count: rounds(20, 8), warmUp: 2, pauseMs: 300 }, [
    async () => {
      const file = `reeve-${(number += 1)}`;
      const startedAt = performance.now();
      const [{ session_id }, ranAt] = await Promise.all([
        client.postJson<SessionAnswer>("/v1/sessions", startBody(work, `>${file}; exec sleep 100000`)),
        isMade(join(work, file)),
      ]);
      const toldAt = await events.arrival("session-running", session_id);
      await client.postJson(`/v1/sessions/${session_id}/end`, { grace_seconds: 0 });
      return { reeve: ranAt - startedAt, told: toldAt - startedAt };
    },
    async () => {
      const file = `raw-${(number += 1)}`;
      const spec = rawSpec(work, home.outputsDir, `>${work}/${file}; exec sleep 100000`);
      const startedAt = performance.now();
      const made = isMade(join(work, file));
      const { body } = await engine.call("POST", `/containers/create?name=${file}`, spec);
      const { Id } = body as { readonly Id: string };
      await engine.call("POST", `/containers/${Id}/start`);
      const answered = performance.now() - startedAt;
      const raw = (await made) - startedAt;
      await engine.call("DELETE", `/containers/${Id}?force=1`);
      return { raw, rawAnswered: answered };
    },
  ]);
  const baselineName = "raw create + start of the same container";
  add(
    compare({
      target: 19,
      what: "start, until its program runs",
      subject: samples("reeve"),
      baseline: samples("raw"),
      baselineName,
      limit: atMost(1.05),
      ofMedians: true,
    }),
    compare({
      target: 19,
      what: "start, until it is told as running",
      subject: samples("told"),
      baseline: samples("rawAnswered"),
      baselineName: `${baselineName}, until it answers`,
      ofMedians: true,
    }),
  );
}

async function measureSends({ rounds, add }: Bench, { client, events, work }: Ground): Promise<void> {
  const start = async (runtime: "docker" | "tmux"): Promise<string> => {
    const body = { ...startBody(work, `exec cat >${runtime}.got`), runtime };
    const { session_id } = await client.postJson<SessionAnswer>("/v1/sessions", body);
    await events.arrival("session-running", session_id);
    await isMade(join(work, `${runtime}.got`));
    return session_id;
  };
  const [inside, local] = [await start("docker"), await start("tmux")];
  const text = "x".repeat(100);
  const send = async (session: string): Promise<number> => {
    const startedAt = performance.now();
    const { state } = await client.postJson<{ state: string }>(`/v1/sessions/${session}/messages`, { text });
    if (state !== "delivered") throw new Error(`a message to ${session} is ${state}`);
    return performance.now() - startedAt;
  };
  const samples = await alternate({ count: rounds(100, 30), warmUp: 5, pauseMs: 10 }, [
    async () => ({ inside: await send(inside) }),
    async () => ({ local: await send(local) }),
  ]);
  const baselineName = "the same to a local pane";
  const [subject, baseline] = [samples("inside"), samples("local")];
  add(compare({ target: 19, what: "100 B sent, durably", subject, baseline, baselineName, limit: atMost(2) }));
  for (const session of [inside, local]) await client.postJson(`/v1/sessions/${session}/end`, { grace_seconds: 0 });
}

async function measureIdle(
  { add }: Bench,
  { client, events, work }: Ground,
  { pid, windowMs }: { readonly pid: number; readonly windowMs: number },
): Promise<void> {
  for (let number = 0; number < IDLE_CONTAINERS; number += 1) {
    const { session_id } = await client.postJson<SessionAnswer>("/v1/sessions", startBody(work, "exec sleep 100000"));
    await events.arrival("session-running", session_id);
  }
  await untilQuiet(pid, 10_000);
  const used = measureCpu(pid);
  const startedAt = performance.now();
  await sleep(windowMs);
  const elapsed = performance.now() - startedAt;
  add(
    compare({
      target: 19,
      what: `idle CPU with ${IDLE_CONTAINERS} containers, of one core`,
      unit: "%",
      subject: [(used() / elapsed) * 100],
      baseline: [100],
      baselineName: "one core",
      limit: atMost(0.2, "subject"),
      note: `over ${(elapsed / 1_000).toFixed(0)} s`,
    }),
  );
}

function startBody(cwd: string, script: string): object {
  const args = ["/bin/sh", "-c", script];
  return { agent: "command", runtime: "docker", args, cwd, environment: callerEnvironment() };
}

/** What Reeve asks of the engine, with the program alone in it: the same limits, mounts and user. */
function rawSpec(work: string, shared: string, script: string): object {
  const request = {
    sessionId: "raw",
    incarnation: 1,
    label: "raw",
    argv: [],
    cwd: work,
    environment: null,
    extraEnvironment: {},
  };
  const container = {
    image: SESSION_IMAGE,
    cpus: null,
    memoryBytes: 268_435_456,
    pids: null,
    network: "none",
    mounts: [],
    role: "",
    shared: [shared],
  } as const;
  const user = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  return {
    ...containerSpec(request, container, { instance: "raw", user, owner: "0" }),
    OpenStdin: false,
    StdinOnce: false,
    AttachStdin: false,
    AttachStdout: false,
    AttachStderr: false,
    Entrypoint: ["/bin/sh", "-c", script],
  };
}

/** When it was; looked for each millisecond. */
async function isMade(path: string): Promise<number> {
  const endsAt = performance.now() + LONGEST_START_MS;
  while (statSync(path, { throwIfNoEntry: false }) === undefined) {
    if (performance.now() > endsAt) throw new Error(`${path} was not made`);
    await sleep(1);
  }
  return performance.now();
}
