/**
 * Target 14, through the daemon: it comes back to a living session whose
 * transcript has meanwhile become long, reads it to its end, and stays small
 * and answers while it does.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { createBenchHome } from "./support/bench-home.ts";
import { createHttpClient } from "./support/http-client.ts";
import { atMost, compare, sleep, summarize } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import { configureStandIns, startStandIn } from "./support/stand-in.ts";
import type { Target } from "./support/target.ts";
import { appendRollout } from "./transcript-parse.ts";

const MB = 1024 * 1024;
const MOST_MEMORY_MB = 64;
/** Whatever happens, an answer comes within this. */
const LONGEST_ANSWER_MS = 5_000;
const PAUSE_MS = 20;

export const catchUp: Target = {
  number: 14,
  title: "a long transcript, caught up with by the daemon",
  async measure({ scope, build, isQuick, rounds, add }) {
    const bytes = (isQuick ? 64 : 1024) * MB;
    const size = isQuick ? "64 MB" : "1 GB";
    const home = createBenchHome(scope, build);
    configureStandIns(home);
    let daemon = await home.startDaemon();
    const codex = await startStandIn(home, createHttpClient(scope, home.socketPath), "codex", MB);
    await untilQuiet(daemon.pid, 5_000);
    await daemon.kill();

    daemon = await home.startDaemon();
    await untilQuiet(daemon.pid, 5_000);
    const idle = listTimer(createHttpClient(scope, home.socketPath));
    for (let count = 0; count < rounds(200, 50); count += 1) await idle.list(PAUSE_MS);
    const idleMemory = statusMb(daemon.pid, "VmRSS");
    await daemon.kill();

    const { turns } = appendRollout(codex.transcriptPath, bytes);
    daemon = await home.startDaemon();
    writeFileSync(`/proc/${daemon.pid}/clear_refs`, "5");
    const startedAt = performance.now();
    const busy = listTimer(createHttpClient(scope, home.socketPath));
    const wanted = idle.turns() + turns;
    while (busy.turns() < wanted) {
      await busy.list(PAUSE_MS);
      if (performance.now() - startedAt > 200_000) throw new Error(`${busy.turns()} of ${wanted} turns were read`);
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    const growth = statusMb(daemon.pid, "VmHWM") - idleMemory;
    const worst = Math.max(...busy.samples);

    const times = { target: 14, subject: busy.samples, baseline: idle.samples, baselineName: "the same, at rest" };
    add(
      compare({
        target: 14,
        what: `${size} at adoption, peak memory above rest`,
        unit: "MB",
        subject: [growth],
        baseline: [idleMemory],
        baselineName: "at rest, in all",
        limit: atMost(MOST_MEMORY_MB, "subject"),
        note: `caught up in ${seconds.toFixed(1)} s (${Math.round(bytes / MB / seconds)} MB/s), ${turns} turns`,
      }),
      compare({ ...times, what: "list meanwhile", note: `${busy.samples.length} answers` }),
      compare({
        ...times,
        what: "list meanwhile, the slowest answer",
        subject: [worst],
        baseline: [summarize(idle.samples).p90],
        limit: atMost(LONGEST_ANSWER_MS, "subject"),
      }),
    );
  },
};

function listTimer(client: ReturnType<typeof createHttpClient>) {
  const samples: number[] = [];
  let turns = 0;
  return {
    samples,
    turns: () => turns,
    async list(pauseMs: number): Promise<void> {
      await sleep(pauseMs);
      const startedAt = performance.now();
      const answer = await client.get("/v1/sessions");
      samples.push(performance.now() - startedAt);
      const { sessions } = JSON.parse(answer.toString()) as {
        readonly sessions: readonly { readonly turns: number }[];
      };
      turns = sessions[0]?.turns ?? 0;
    },
  };
}

function statusMb(pid: number, field: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(text)?.[1]) / 1024;
}
