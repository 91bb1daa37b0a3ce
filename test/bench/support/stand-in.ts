/**
 * Sessions of real agents without the agents: a program that says its version
 * and sleeps takes their place, and the benchmark writes what they would have
 * written. The daemon knows no difference: panes, hook scripts, spools and
 * transcripts are real.
 */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runProgram } from "../../support/test-home.ts";
import { type BenchHome, callerEnvironment } from "./bench-home.ts";
import type { HttpClient } from "./http-client.ts";
import { sleep } from "./measure.ts";
import { goldenLines, writeRealTranscript } from "./real-transcript.ts";

export type Fields = Readonly<Record<string, unknown>>;

const VERSIONS = { codex: "codex-cli 0.166.0", claude: "2.1.325 (Claude Code)" } as const;
const HOOKS = { codex: "codex/0.166.0/hook-records.jsonl", claude: "claude/2.1.325/hooks.jsonl" } as const;
const THREAD = "01a1e177-7b81-7043-813a-79e65bffb962";

export interface StandIn {
  readonly id: string;
  readonly spoolDir: string;
  readonly hookPath: string;
  readonly transcriptPath: string;
  /** A record as its hooks write it, with these fields changed. */
  record(event: string, changes: Fields): string;
  /** Runs the session's own hook script with it. */
  runHook(record: string): Promise<void>;
}

/** Before the daemon starts. */
export function configureStandIns(home: BenchHome): void {
  let config = "";
  for (const [agent, version] of Object.entries(VERSIONS)) {
    const path = join(home.dir, `stand-in-${agent}`);
    writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && echo '${version}' && exit\nexec sleep 100000\n`);
    chmodSync(path, 0o755);
    config += `[agent.${agent}]\ncommand = "${path}"\n${agent === "codex" ? 'mode = "hooks"\n' : ""}`;
  }
  writeFileSync(join(home.dir, "config.toml"), config);
}

interface View {
  readonly session_id: string;
  readonly state: string;
  readonly outputs_dir: string;
  readonly observability: {
    readonly status: string;
    readonly native_id: string | null;
    readonly transcript_path: string | null;
  };
}

/** Running, with a transcript of its own that has this many bytes of real lines and is read to its end. */
export async function startStandIn(
  home: BenchHome,
  client: HttpClient,
  agent: keyof typeof VERSIONS,
  transcriptBytes: number,
): Promise<StandIn> {
  const environment = { ...callerEnvironment(), HOME: home.dir };
  const body = { agent, args: [], cwd: home.dir, environment };
  const { session_id: id } = await client.postJson<View>("/v1/sessions", body);
  const path = `/v1/sessions/${id}`;
  const running = await until(client, path, ({ state }) => state === "running");
  const nativeId = running.observability.native_id ?? THREAD;
  const transcriptPath =
    running.observability.transcript_path ??
    join(home.dir, ".codex", "sessions", "2026", "11", "15", `rollout-2026-11-15T23-07-46-${nativeId}.jsonl`);
  mkdirSync(dirname(transcriptPath), { recursive: true });
  writeRealTranscript(transcriptPath, agent, transcriptBytes);

  const golden = goldenLines(HOOKS[agent]).map((line) => JSON.parse(line) as Fields);
  const standIn: StandIn = {
    id,
    spoolDir: join(running.outputs_dir, "spool"),
    hookPath: join(running.outputs_dir, "hook.sh"),
    transcriptPath,
    record(event, changes) {
      const found = golden.find(({ hook_event_name }) => hook_event_name === event);
      if (found === undefined) throw new Error(`no ${event} hook of ${agent} was recorded`);
      return JSON.stringify({ ...found, session_id: nativeId, transcript_path: transcriptPath, ...changes });
    },
    async runHook(record) {
      const { status } = await runProgram(standIn.hookPath, [], environment, record);
      if (status !== 0) throw new Error(`${standIn.hookPath} ended with ${status}`);
    },
  };
  await standIn.runHook(standIn.record("SessionStart", {}));
  await until(client, path, ({ observability }) => observability.status === "observable");
  return standIn;
}

async function until(client: HttpClient, path: string, holds: (view: View) => boolean): Promise<View> {
  const endsAt = performance.now() + 20_000;
  for (;;) {
    const view = await client.getJson<View>(path);
    if (holds(view)) return view;
    if (performance.now() > endsAt)
      throw new Error(`${path} does not come to what was expected: ${JSON.stringify(view)}`);
    await sleep(20);
  }
}
