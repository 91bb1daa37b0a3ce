/**
 * Target 4: from the end of a turn, as the agent tells it, to the orchestrator
 * that waits for it: as an event on the stream, and as the answer of `wait`.
 * A Codex rollout's last line, and the record of a Claude Code Stop hook,
 * renamed into the spool and written there by the hook script itself.
 */
import { appendFileSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { runProgram } from "../support/test-home.ts";
import { createBenchHome } from "./support/bench-home.ts";
import { keepProgram } from "./support/child.ts";
import { createHttpClient, followEvents, type HttpClient } from "./support/http-client.ts";
import { alternate, atMost, compare, sleep, summarize } from "./support/measure.ts";
import { untilQuiet } from "./support/processes.ts";
import { goldenLines, REAL_TRANSCRIPTS } from "./support/real-transcript.ts";
import { configureStandIns, type StandIn, startStandIn } from "./support/stand-in.ts";
import type { Target } from "./support/target.ts";

const MB = 1024 * 1024;
/** What its beginning set going (a state file, a request that waits) is over by then. */
const TURN_MS = 90;
const WITHIN = atMost(1.5);

export const turnEnd: Target = {
  number: 4,
  title: "the end of a turn, until the orchestrator is woken",
  async measure({ scope, build, rounds, add }) {
    const home = createBenchHome(scope, build);
    configureStandIns(home);
    const daemon = await home.startDaemon();
    const client = createHttpClient(scope, home.socketPath);
    const codex = await startStandIn(home, client, "codex", MB);
    const claude = await startStandIn(home, client, "claude", MB);
    const events = await followEvents(scope, home.socketPath, await cursorOf(client));

    const bareDir = join(home.dir, "bare", "spool");
    mkdirSync(bareDir, { recursive: true });
    const bareHook = join(home.dir, "bare", "hook.sh");
    await runProgram("cp", [claude.hookPath, bareHook], home.environment);
    const bareSocket = join(home.dir, "bare.sock");
    const args = [bareSocket, bareDir, join(home.dir, "bare.db")];
    await keepProgram(scope, build.bare("wake-server"), { args, environment: home.environment });
    const bareEvents = await followEvents(scope, bareSocket, 0);
    const bareTranscript = join(bareDir, "rollout.jsonl");
    writeFileSync(bareTranscript, "");
    await untilQuiet(daemon.pid, 5_000);

    const bare = (tell: Teller) => turn(tell, () => bareEvents.next("turn-completed", "bare"));
    const streamed = (id: string, tell: Teller) => turn(tell, () => events.next("turn-completed", id));
    const answered = (who: HttpClient, path: string, tell: Teller) =>
      turn(tell, async () => {
        const answer = await who.get(path);
        const at = performance.now();
        const { reason } = JSON.parse(answer.toString()) as { readonly reason: string };
        if (reason !== "turn-completed") throw new Error(`wait ended with ${reason}`);
        return at;
      });
    const bareClient = createHttpClient(scope, bareSocket);
    const bareWaited = (tell: Teller) => answered(bareClient, "/wait", tell);
    const waited = (id: string, tell: Teller) =>
      answered(client, `/v1/sessions/${id}/wait?for=turn-completed&timeout_seconds=20&reply=false`, tell);
    const tell = {
      line: { bare: rolloutLine(bareTranscript), reeve: rolloutLine(codex.transcriptPath) },
      record: { bare: renamed(claude, bareDir), reeve: renamed(claude, claude.spoolDir) },
      hook: { bare: hooked(claude, bareHook), reeve: hooked(claude, claude.hookPath) },
    } as const;
    const row = (what: string, subject: readonly number[], baseline: readonly number[]) =>
      compare({
        target: 4,
        what,
        subject,
        baseline,
        baselineName: "inotify + commit + SSE",
        limit: WITHIN,
        ofMedians: true,
      });

    // One at a time: the client that gets both would read the one only after the other.
    const onStream = await alternate({ count: rounds(200, 40), warmUp: 20, pauseMs: 0 }, [
      async () => ({ "bare line": await bare(tell.line.bare) }),
      async () => ({ line: await streamed(codex.id, tell.line.reeve) }),
      async () => ({ "bare record": await bare(tell.record.bare) }),
      async () => ({ record: await streamed(claude.id, tell.record.reeve) }),
      async () => ({ "bare hook": await bare(tell.hook.bare) }),
      async () => ({ hook: await streamed(claude.id, tell.hook.reeve) }),
    ]);
    add(
      row("codex task_complete line → event", onStream("line"), onStream("bare line")),
      row("claude Stop record → event", onStream("record"), onStream("bare record")),
      row("claude Stop, hook.sh and all → event", onStream("hook"), onStream("bare hook")),
    );
    events.close();
    bareEvents.close();
    const onWait = await alternate({ count: rounds(200, 40), warmUp: 20, pauseMs: 0 }, [
      async () => ({ "bare line": await bareWaited(tell.line.bare) }),
      async () => ({ line: await waited(codex.id, tell.line.reeve) }),
      async () => ({ "bare record": await bareWaited(tell.record.bare) }),
      async () => ({ record: await waited(claude.id, tell.record.reeve) }),
    ]);
    const overStream = (figure: "line" | "record"): string => {
      const ratio = summarize(onWait(figure)).median / summarize(onStream(`bare ${figure}`)).median;
      return `${ratio.toFixed(2)}× of the bare event stream`;
    };
    const name = "inotify + commit + answer";
    add(
      {
        ...row("codex task_complete line → wait", onWait("line"), onWait("bare line")),
        baselineName: name,
        note: overStream("line"),
      },
      {
        ...row("claude Stop record → wait", onWait("record"), onWait("bare record")),
        baselineName: name,
        note: overStream("record"),
      },
    );
  },
};

/** One turn; how long after its end was told `woken`, which is asked before, came true. */
export async function turn(tell: Teller, woken: () => Promise<number>): Promise<number> {
  const turnId = randomUUID();
  await tell("start", turnId);
  await sleep(TURN_MS / 2);
  const arrival = woken();
  await sleep(TURN_MS / 2);
  const startedAt = performance.now();
  const told = tell("end", turnId);
  const arrivedAt = await arrival;
  await told;
  return arrivedAt - startedAt;
}

type Teller = (what: "start" | "end", turnId: string) => void | Promise<void>;

/** The golden rollout's own lines, with this turn's id. */
function rolloutLine(path: string): Teller {
  const lines = goldenLines(REAL_TRANSCRIPTS.codex);
  const lineOf = (type: string): { readonly line: string; readonly id: string } => {
    const line = lines.find((text) => text.includes(`"type":"${type}"`)) ?? "";
    const { payload } = JSON.parse(line) as { readonly payload: { readonly turn_id: string } };
    return { line, id: payload.turn_id };
  };
  const found = { start: lineOf("task_started"), end: lineOf("task_complete") };
  // Of now: what is older than the session is the history of an earlier one.
  const dated = (line: string): string =>
    line.replace(/"timestamp":"[^"]*"/, `"timestamp":"${new Date().toISOString()}"`);
  return (what, turnId) => appendFileSync(path, `${dated(found[what].line.replaceAll(found[what].id, turnId))}\n`);
}

function claudeRecord(claude: StandIn, what: "start" | "end", turnId: string): string {
  return claude.record(what === "start" ? "UserPromptSubmit" : "Stop", { prompt_id: turnId });
}

/** As hook.sh does it, without the processes it needs. */
export function renamed(claude: StandIn, directory: string): Teller {
  return (what, turnId) => {
    const name = `${BigInt(Date.now()) * 1_000_000n}-${process.pid}.json`;
    writeFileSync(join(directory, `.${name}`), `${claudeRecord(claude, what, turnId)}\n`);
    renameSync(join(directory, `.${name}`), join(directory, name));
  };
}

function hooked(claude: StandIn, script: string): Teller {
  return async (what, turnId) => {
    await runProgram(script, [], { PATH: process.env["PATH"] ?? "" }, claudeRecord(claude, what, turnId));
  };
}

export async function cursorOf(client: HttpClient): Promise<number> {
  return (await client.getJson<{ readonly cursor: number }>("/v1/daemon")).cursor;
}
