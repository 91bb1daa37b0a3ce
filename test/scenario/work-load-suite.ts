/**
 * `reeve work run` carries out a queue with priorities and
 * dependencies while the daemon is killed again and again, and the run itself
 * once. Each item is done exactly once: one turn of one worker was about it. And
 * in order: when an item is given out, all that it depends on is done, and no item
 * of higher priority is ready and not given out.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { operatorOf } from "../support/session-caller.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { createRandom } from "../truth/random.ts";

const SEED = "work";
const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;

interface Added {
  readonly id: string;
  readonly priority: number;
  readonly dependencies: readonly string[];
}

export interface WorkLoad {
  readonly items: number;
  readonly workers: number;
  /** Of the daemon; the run is killed once besides. */
  readonly kills: number;
}

export function testWorkLoad({ items, workers, kills }: WorkLoad): void {
  const patienceMs = 120_000 + items * 1_500;
  beforeAll(() => {
    home = createTestHome();
    home.configure(`[work]\nmost_workers = ${workers}\n`);
  });
  afterAll(() => home.dispose(), 120_000);

  test(
    `${items} items, ${workers} workers and ${kills} kills of the daemon: each item is done once, in order`,
    { timeout: patienceMs },
    async () => {
      const operator = operatorOf(home, { enduranceMs: 60_000 });
      const random = createRandom(SEED);
      const added: Added[] = [];
      for (let number = 1; number <= items; number += 1) {
        const count = added.length === 0 || random.chance(0.6) ? 0 : random.chance(0.7) ? 1 : 2;
        const dependencies = Array.from({ length: count }, () => random.pick(added).id);
        const priority = random.pick([-2, -1, 0, 1, 2]);
        const item = { title: `Number ${number}`, agent: "practice", cwd: home.dir, priority, dependencies };
        const { work_id: id } = await operator.addWork(item);
        added.push({ id, priority, dependencies });
      }

      const state = { done: 0, kills: 0, isRunKilled: false };
      const seen = new AbortController();
      const watching = (async () => {
        for await (const { type, data } of operator.followEvents({ since: 0 }, { signal: seen.signal }))
          if (type === "work-changed" && data["state"] === "done") state.done += 1;
      })();
      const killer = (async () => {
        while (state.kills < kills) {
          const due = ((state.kills + 1) * items) / (kills + 1);
          await eventually("more is done", () => state.done >= due, patienceMs);
          if (home.killRunningDaemon()) state.kills += 1;
          else await new Promise((resolve) => setTimeout(resolve, 5));
        }
      })();
      const first = startRun();
      const runKiller = eventually("half is done", () => state.done >= items / 2, patienceMs).then(() => {
        state.isRunKilled = true;
        first.child.kill("SIGKILL");
      });
      await Promise.all([first.ended, runKiller]);
      const last = await startRun().ended;
      await killer;
      seen.abort();
      await watching;

      expect(JSON.parse(last.stdout)).toMatchObject({ ended: "done", failed: [], open: 0, troubles: [] });
      expect(last.status).toBe(0);
      const events = await home.events();
      expectOrder(events, added);
      expect(mostAtOnce(events)).toBeLessThanOrEqual(workers);
      expect(await turnsByItem()).toEqual(Object.fromEntries(added.map(({ id }) => [id, 1])));
      expect((await home.list()).filter(({ state: is }) => is !== "stopped")).toEqual([]);
    },
  );
}

function startRun(): {
  readonly child: ChildProcess;
  readonly ended: Promise<{ status: number | null; stdout: string }>;
} {
  const env = { ...home.environment, PRACTICE_PACE_MS: "10" };
  const child = spawn(REEVE, ["work", "run", "--json"], { env, cwd: home.dir, stdio: ["ignore", "pipe", "inherit"] });
  let stdout = "";
  child.stdout.on("data", (bytes: Buffer) => (stdout += bytes.toString("utf8")));
  const ended = new Promise<{ status: number | null; stdout: string }>((resolve) =>
    child.once("close", (status) => resolve({ status, stdout })),
  );
  return { child, ended };
}

/** From the log: what was done before each item was given out. */
function expectOrder(events: readonly EventRow[], added: readonly Added[]): void {
  const done = new Set<string>();
  const begun = new Set<string>();
  const wrong: string[] = [];
  const isReady = ({ dependencies }: Added): boolean => dependencies.every((id) => done.has(id));
  const items = new Map(added.map((item) => [item.id, item]));
  for (const { type, data } of events) {
    const item = type === "work-changed" ? items.get(String(data["work_id"])) : undefined;
    if (item === undefined) continue;
    if (data["state"] === "done") {
      if (done.has(item.id)) wrong.push(`${item.id} was done twice`);
      done.add(item.id);
    }
    if (data["change"] !== "begin") continue;
    if (begun.has(item.id)) wrong.push(`${item.id} was given out twice`);
    if (!isReady(item)) wrong.push(`${item.id} was given out before it was ready`);
    begun.add(item.id);
    for (const other of added)
      if (other.priority > item.priority && !begun.has(other.id) && isReady(other))
        wrong.push(`${item.id} (${item.priority}) was given out before ${other.id} (${other.priority})`);
  }
  expect(wrong).toEqual([]);
  expect(done.size).toBe(added.length);
}

function mostAtOnce(events: readonly EventRow[]): number {
  const atWork = new Set<string>();
  let most = 0;
  for (const { type, data } of events) {
    if (type !== "work-changed") continue;
    if (data["state"] === "in-progress") atWork.add(String(data["work_id"]));
    else atWork.delete(String(data["work_id"]));
    most = Math.max(most, atWork.size);
  }
  return most;
}

/** From the workers' own transcripts: how many prompts named the item. */
async function turnsByItem(): Promise<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const session of await home.list()) {
    const { transcript_path: path } = session["observability"] as { transcript_path: string | null };
    if (path === null || !existsSync(path)) continue;
    for (const line of readFileSync(path, "utf8")
      .split("\n")
      .filter((one) => one !== "")) {
      const { type, text } = JSON.parse(line) as { type: string; text?: string };
      const [, id] = type === "user" ? (/work item (work-\w+)/.exec(text ?? "") ?? []) : [];
      if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return Object.fromEntries(counts);
}
