/**
 * next-work against worlds that nobody would build: any state of an item with
 * any facts about any worker. Whatever the world, what it must never say is never
 * said. next-work-simulation.test.ts does what it says instead.
 * REEVE_TEST_WORK_STEPS makes both longer.
 */
import { expect, test } from "vitest";
import { createRandom, type Random } from "../../test/truth/random.ts";
import { FAILURE_KINDS } from "../session/failure.ts";
import { HEALTH_VERDICTS } from "../session/health.ts";
import { STATES } from "../session/states.ts";
import { type Action, ACTION_NAMES, CODE_NAMES } from "./advice.ts";
import { nextWork, type NextWork, STATE_RULES } from "./next-work.ts";
import { changedWork } from "./work-change.ts";
import type { Repair } from "./work-repair.ts";
import { workItem } from "./work-fixture.ts";
import { idleWorker, worldOfFacts } from "./work-world-fixture.ts";
import type { World } from "./work-world.ts";
import { isClosed, REVIEWS, WORK_STATES, type WorkItem } from "./work.ts";
import { isBusy, isToBegin, type WorkerFacts } from "./worker-facts.ts";

const STEPS = Number(process.env["REEVE_TEST_WORK_STEPS"] ?? "100000");
const SESSIONS = ["anna", "bert", "carl"];
const NOW = 50_000_000;

function anyItem(random: Random, id: string, others: readonly string[]): WorkItem {
  const state = random.pick(WORK_STATES);
  const sessionId = random.pick(SESSIONS);
  const verdict = random.pick(["approved", "changes-requested"] as const);
  const since = random.int(0, NOW);
  return workItem({
    id,
    state,
    priority: random.int(-2, 2),
    agent: random.pick(["practice", "practice", "codex", "nobody", null]),
    role: random.pick([null, "agent", "coder"]),
    branch: random.pick([null, "parser"]),
    cwd: random.chance(0.9) ? "/project" : null,
    review: random.pick(REVIEWS),
    dependencies: others.filter(() => random.chance(0.2)),
    flight: state === "in-progress" ? { sessionId, by: "operator", since, turnsBefore: random.int(0, 3) } : null,
    sessions: state === "pending" && random.chance(0.8) ? [] : [sessionId],
    failures: random.int(0, 3),
    rounds: random.int(0, 3),
    result: random.chance(0.5) ? { text: "done", sessionId, by: "operator", at: since } : null,
    reviewed: random.chance(0.4)
      ? { verdict, text: "well", commit: random.pick(["c1", "c2", null]), by: "operator", at: since }
      : null,
    changedAt: since,
  });
}

function anyWorker(random: Random, sessionId: string): WorkerFacts {
  const turns = random.int(0, 4);
  const lost = { type: "release", why: "It is gone." } as const;
  const ended = { type: "built", text: "It ended.", sessionId, commits: [] } as const;
  const gone = random.chance(0.25) ? random.pick([lost, lost, ended]) : null;
  return idleWorker({
    sessionId,
    name: sessionId,
    agent: random.pick(["practice", "codex"]),
    role: random.pick(["agent", "coder"]),
    branch: random.pick([null, "parser"]),
    worktree: random.pick([null, "/project"]),
    state: random.pick([...STATES, "running", "running", "running"]),
    liveness: random.pick(["running", "running", "running", "exited", "absent", "unreachable"]),
    activity: random.pick(["starting", "working", "idle", "idle", "awaiting-approval", "awaiting-input", "unknown"]),
    observability: random.pick(["pending", "observable", "lost"]),
    health: random.pick([...HEALTH_VERDICTS, "healthy", "healthy"]),
    hasTurns: random.chance(0.9),
    hasPrompt: random.chance(0.5),
    turns,
    turnOpen: random.chance(0.3),
    lastTurn: random.chance(0.2)
      ? null
      : {
          verdict: random.pick(["completed", "completed", "failed", "interrupted", null]),
          failure: random.pick([null, ...FAILURE_KINDS]),
          error: null,
          startedAt: random.pick([null, random.int(0, NOW)]),
        },
    approvals: random.chance(0.2) ? [{ id: "a1", title: "Run make?", isAnswered: random.chance(0.5) }] : [],
    hasMessages: random.chance(0.2),
    hasExited: gone !== null || random.chance(0.1),
    gone,
    isEnding: random.chance(0.1),
    isHeld: random.chance(0.1),
    parked: random.chance(0.1) ? { until: NOW + 5, text: "a limit is reached" } : null,
    wait: random.pick(["notification", "poll"]),
    hidesFirstTurn: random.chance(0.5),
    lastActivityAt: random.pick([null, random.int(0, NOW)]),
    git: random.pick([null, { commit: random.pick(["c1", "c2", null]), dirty: random.int(0, 1) }]),
  });
}

function anyWorld(random: Random): World {
  const ids = ["one", "two", "three", "four"].slice(0, random.int(0, 4));
  const items = ids.map((id, index) => anyItem(random, id, ids.slice(0, index)));
  const workers = SESSIONS.filter(() => random.chance(0.9)).map((id) => anyWorker(random, id));
  const facts = () => ({
    problem: random.chance(0.1) ? "It is not installed." : null,
    parked: random.chance(0.2) ? { until: NOW + random.int(1, 9), text: "a limit is reached" } : null,
  });
  return worldOfFacts(items, workers, {
    now: NOW,
    agents: new Map([
      ["practice", facts()],
      ["codex", facts()],
    ]),
    limits: { workers: random.pick([null, null, 0, 3]), byAgent: {}, byRole: random.pick([{}, { coder: 0 }]) },
    reusable: SESSIONS.filter(() => random.chance(0.3)),
    self: random.pick([null, "anna"]),
  });
}

/** The same world, in which every transcript is somewhere else. */
function withoutTranscripts(world: World): World {
  const workers = [...world.workers].map(([id, worker]): readonly [string, WorkerFacts] => [
    id,
    { ...worker, observability: worker.observability === "observable" ? "lost" : "observable" },
  ]);
  return { ...world, workers: new Map(workers) };
}

test(`in ${STEPS} random worlds it never ends a working session, never gives an item out twice, and heeds no transcript`, () => {
  const random = createRandom("next-work");
  const seen = new Set<string>();
  for (let step = 0; step < STEPS; step++) {
    const world = anyWorld(random);
    const which = random.pick([null, ...world.items.keys()]);
    const next = nextWork(world, which);
    const { advice, repairs } = next;
    seen.add(advice.action);
    if (advice.code !== null) seen.add(advice.code);
    check(world, next, step);
    for (const { workId, change } of repairs) {
      seen.add(change.type);
      const item = world.items.get(workId);
      const worker = world.workers.get(item?.flight?.sessionId ?? "");
      // Only what is proven to be gone loses its item.
      if (["release", "built"].includes(change.type) && isThere(worker))
        throw new Error(`step ${step}: takes an item from a worker`);
    }
    if (step % 10 === 0) expect(nextWork(withoutTranscripts(world), which)).toEqual(next);
  }
  expect([...seen].toSorted()).toEqual(
    [...ACTION_NAMES, ...CODE_NAMES, "approve", "built", "release", "reset-review"].toSorted(),
  );
});

/** Nobody has proven that it is gone. */
function isThere(worker: WorkerFacts | undefined): boolean {
  return worker !== undefined && worker.gone === null;
}

function afterRepairs(item: WorkItem, repairs: readonly Repair[]): WorkItem {
  return repairs
    .filter(({ workId }) => workId === item.id)
    .reduce((before, { change }) => changedWork(before, change, { by: "system", at: NOW })?.item ?? before, item);
}

function check(world: World, next: NextWork, step: number): void {
  const { advice } = next;
  const worker = world.workers.get(advice.sessionId ?? "");
  const item = world.items.get(advice.workId ?? "");
  const items = [...world.items.values()].map((one) => afterRepairs(one, next.repairs));
  const flights = items.filter(({ flight }) => flight !== null && flight.sessionId === advice.sessionId);
  const fail = (what: string): never => {
    throw new Error(`step ${step}: ${what}: ${JSON.stringify({ advice, worker, item })}`);
  };
  switch (advice.action) {
    case "end-session":
      if (worker === undefined || isBusy(worker) || worker.turnOpen) fail("ends what works");
      if (worker?.hasExited !== false || worker.liveness === "unreachable") fail("ends what it cannot see");
      if (worker !== undefined && isToBegin(worker)) fail("ends what is about to begin");
      if (worker?.isHeld === true || worker?.sessionId === world.self) fail("ends what must stay");
      if (flights.length > 0) fail("ends a worker that has an item");
      break;
    case "dispatch":
      if (item === undefined || isClosed(item.state)) fail("gives out what is closed");
      if (isThere(world.workers.get(item?.flight?.sessionId ?? ""))) fail("gives it to a second worker");
      if (advice.sessionId !== null && flights.length > 0) fail("gives a worker a second item");
      if (advice.dispatch?.agent === "" || advice.dispatch?.cwd === "") fail("does not say how");
      break;
    case "fix":
      if (flights.length > 0 || worker === undefined || isBusy(worker)) fail("disturbs a worker");
      break;
    case "wait":
      if (advice.wait === null || advice.wait.sessions.length === 0) fail("waits for nobody");
      break;
    case "send-details":
      if (
        advice.message === null &&
        advice.approval === null &&
        worker?.activity !== "awaiting-input" &&
        worker?.activity !== "awaiting-approval"
      )
        fail("has nothing to send");
      break;
    case "none":
      if (advice.code === null) fail("does not say why");
      break;
    default:
  }
  const state = item === undefined ? undefined : afterRepairs(item, next.repairs).state;
  if (state !== undefined && !(STATE_RULES[state].actions as readonly Action[]).includes(advice.action))
    fail("is not in the table of states");
  if (advice.text.includes("undefined") || advice.text.includes("null")) fail("reads badly");
}
