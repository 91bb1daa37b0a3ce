/**
 * Somebody does what next-work says, in a world where everything else happens at
 * random: turns end well or badly, workers ask, hang, die and come back, limits
 * close, files stay uncommitted, reviewers are hard to please. Each item comes to
 * an end, no item is with two workers, and nothing is ended in its turn.
 * REEVE_TEST_WORK_STEPS makes it longer.
 */
import { expect, test } from "vitest";
import { createRandom, type Random } from "../../test/truth/random.ts";
import { ACTION_NAMES, type Advice, CODE_NAMES } from "./advice.ts";
import { nextWork } from "./next-work.ts";
import { changedWork, type WorkChange } from "./work-change.ts";
import { workItem } from "./work-fixture.ts";
import { idleWorker, worldOfFacts } from "./work-world-fixture.ts";
import { isClosed, REVIEWS, type WorkItem } from "./work.ts";
import { isBusy, type WorkerFacts } from "./worker-facts.ts";

const STEPS = Number(process.env["REEVE_TEST_WORK_STEPS"] ?? "100000");
const AGENTS = ["practice", "codex"];
/** No item takes longer than this, whatever happens to it. */
const MOST_STEPS_PER_ITEM = 400;

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
type SimulatedWorker = Mutable<WorkerFacts>;

class Simulation {
  readonly items = new Map<string, WorkItem>();
  readonly workers = new Map<string, SimulatedWorker>();
  readonly agents = new Map<string, { problem: string | null; parked: { until: number; text: string } | null }>();
  readonly seen = new Set<string>();
  now = 1_000_000;
  dispatched = 0;
  ended = 0;
  private commits = 0;
  private readonly random: Random;

  constructor(seed: string) {
    this.random = createRandom(seed);
    const { random } = this;
    for (const agent of AGENTS) this.agents.set(agent, { problem: null, parked: null });
    const ids = Array.from({ length: random.int(1, 6) }, (_, index) => `item-${index}`);
    for (const [index, id] of ids.entries())
      this.items.set(
        id,
        workItem({
          id,
          priority: random.int(-1, 1),
          agent: random.chance(0.8) ? random.pick(AGENTS) : null,
          cwd: random.chance(0.9) ? "/project" : null,
          branch: random.chance(0.5) ? id : null,
          review: random.pick(REVIEWS),
          dependencies: ids.slice(0, index).filter(() => random.chance(0.2)),
          retryLimit: random.int(0, 2),
          createdAt: index,
          changedAt: this.now,
        }),
      );
  }

  isOver(): boolean {
    return [...this.items.values()].every(({ state }) => isClosed(state));
  }

  step(): void {
    this.now += this.random.int(1, 120_000);
    // Now and then somebody leaves it alone for a day.
    if (this.random.chance(0.003)) this.now += 86_400_000;
    for (const worker of this.workers.values()) this.happen(worker);
    this.happenOutside();
    const which = this.random.chance(0.7) ? null : this.random.pick([...this.items.keys()]);
    const world = worldOfFacts([...this.items.values()], [...this.workers.values()], {
      now: this.now,
      agents: this.agents,
      limits: { workers: this.random.chance(0.05) ? 0 : null, byAgent: {}, byRole: {} },
    });
    const { advice, repairs } = nextWork(world, which);
    for (const { workId, change } of repairs) this.change(workId, change, "system");
    this.seen.add(advice.action);
    if (advice.code !== null) this.seen.add(advice.code);
    this.carryOut(advice);
  }

  private change(
    workId: string,
    change: WorkChange,
    by: "operator" | "system" | "session:lead" = "session:lead",
  ): void {
    const item = this.items.get(workId);
    if (item === undefined) throw new Error(`no item ${workId}`);
    const changed = changedWork(item, change, { by, at: this.now });
    if (changed !== null) this.items.set(workId, changed.item);
    const flights = [...this.items.values()].flatMap(({ flight }) => flight?.sessionId ?? []);
    expect(new Set(flights).size).toBe(flights.length);
  }

  private carryOut(advice: Advice): void {
    const { random } = this;
    const worker = this.workers.get(advice.sessionId ?? "");
    const item = this.items.get(advice.workId ?? "");
    switch (advice.action) {
      case "prepare":
        return this.change(advice.workId ?? "", { type: "edit", fields: { agent: "practice", cwd: "/project" } });
      case "dispatch":
        return this.dispatch(item as WorkItem);
      case "read":
        if (random.chance(0.1)) return this.send(worker as SimulatedWorker);
        return this.change(advice.workId ?? "", {
          type: "built",
          text: "done",
          sessionId: null,
          commits: advice.commit === null ? [] : [advice.commit],
        });
      case "send-details":
        if (advice.approval === null) return this.send(worker as SimulatedWorker);
        (worker as SimulatedWorker).approvals = [];
        (worker as SimulatedWorker).activity = "working";
        return;
      case "review": {
        const verdict = random.chance(0.5) ? "approve" : "request-changes";
        return this.change(advice.workId ?? "", { type: verdict, text: "look here", commit: advice.commit });
      }
      case "fix": {
        const { turns: turnsBefore, sessionId } = worker as SimulatedWorker;
        this.change(advice.workId ?? "", { type: "begin", flight: { sessionId, turnsBefore } });
        return this.send(worker as SimulatedWorker);
      }
      case "finalise":
        return this.change(advice.workId ?? "", { type: "finalise", commits: [] });
      case "end-session":
        return this.end(worker as SimulatedWorker);
      case "done":
        if (item?.state === "finalised") this.change(item.id, { type: "done", text: null, commits: [] });
        return;
      case "escalate":
        return this.decide(advice);
      case "wait":
        for (const sessionId of advice.wait?.sessions ?? []) expect(this.workers.has(sessionId)).toBe(true);
        return;
      case "none":
    }
  }

  /** One flight per item: whoever had it before is gone, or it was given back. */
  private dispatch(item: WorkItem): void {
    expect(item.flight).toBeNull();
    this.dispatched += 1;
    const sessionId = `worker-${this.dispatched}`;
    this.change(item.id, { type: "begin", flight: { sessionId, turnsBefore: 0 } });
    const codex = { agent: "codex", hidesFirstTurn: true, observability: "pending" } as const;
    const worker = idleWorker({
      ...(item.agent === "codex" ? codex : {}),
      sessionId,
      name: sessionId,
      branch: item.branch,
      state: "starting",
      activity: "starting",
      turns: 0,
      lastTurn: null,
      lastActivityAt: this.now,
      git: item.branch === null ? null : { commit: this.newCommit(), dirty: 0 },
    });
    this.workers.set(sessionId, { ...worker });
  }

  private end(worker: SimulatedWorker): void {
    expect({ open: worker.turnOpen, busy: isBusy(worker), gone: worker.gone }).toEqual({
      open: false,
      busy: false,
      gone: null,
    });
    expect([...this.items.values()].filter(({ flight }) => flight?.sessionId === worker.sessionId)).toEqual([]);
    this.ended += 1;
    this.die(worker, true);
    Object.assign(worker, { isEnding: true, state: "stopped" });
  }

  private send(worker: SimulatedWorker): void {
    if (!worker.hasExited) worker.hasMessages = true;
  }

  /** A person: helps once in a while, and has no patience. */
  private decide({ workId, sessionId, code }: Advice): void {
    const item = this.items.get(workId ?? "");
    const worker = this.workers.get(sessionId ?? "");
    if (item === undefined || isClosed(item.state)) {
      if (item?.state === "failed" && this.random.chance(0.02)) this.change(item.id, { type: "retry" }, "operator");
      return;
    }
    if (worker !== undefined && this.random.chance(0.5)) {
      if (worker.state === "paused") worker.state = "running";
      if (worker.health !== "healthy") Object.assign(worker, { health: "healthy", turnOpen: false, activity: "idle" });
      if (code === "uncommitted-changes" && worker.git !== null) worker.git = { ...worker.git, dirty: 0 };
      if (code === "stale") this.die(worker, true);
      return;
    }
    this.change(item.id, { type: this.random.pick(["fail", "cancel"]), why: "Enough." }, "operator");
  }

  private happenOutside(): void {
    const { random } = this;
    for (const facts of this.agents.values()) {
      if (facts.parked !== null && facts.parked.until <= this.now) facts.parked = null;
      if (random.chance(0.02)) facts.parked = { until: this.now + 600_000, text: "a limit is reached" };
      facts.problem = random.chance(0.03) ? "It is not installed." : null;
    }
  }

  /** What may happen to a worker by itself. */
  private happen(worker: SimulatedWorker): void {
    const { random } = this;
    if (worker.gone !== null) return;
    // Its process ended, and Reeve starts it again.
    if (worker.hasExited) {
      if (random.chance(0.5))
        Object.assign(worker, {
          hasExited: false,
          state: "running",
          liveness: "running",
          activity: "idle",
        });
      return;
    }
    if (worker.liveness === "unreachable") {
      if (random.chance(0.3)) worker.liveness = "running";
      return;
    }
    if (worker.parked !== null && worker.parked.until <= this.now) worker.parked = null;
    if (worker.state === "paused") return;
    if (random.chance(0.01)) worker.liveness = "unreachable";
    else if (random.chance(0.005)) worker.state = "paused";
    else if (random.chance(0.015)) this.die(worker, random.chance(0.5));
    else if (worker.state === "starting") {
      if (random.chance(0.5))
        Object.assign(worker, { state: "running", activity: "idle", hasMessages: random.chance(0.9) });
    } else if (worker.turnOpen) this.happenInTurn(worker);
    else if (worker.hasMessages && worker.parked === null) {
      worker.hasMessages = false;
      // Now and then it is refused, and nothing begins.
      if (random.chance(0.9)) this.beginTurn(worker);
    } else if (worker.git !== null && random.chance(0.02)) worker.git = { ...worker.git, commit: this.newCommit() };
  }

  private beginTurn(worker: SimulatedWorker): void {
    const lastTurn = { verdict: null, failure: null, error: null, startedAt: this.now };
    Object.assign(worker, {
      turns: worker.turns + 1,
      turnOpen: true,
      activity: "working",
      lastTurn,
      lastActivityAt: this.now,
    });
    if (this.random.chance(0.8)) worker.observability = "observable";
  }

  private happenInTurn(worker: SimulatedWorker): void {
    const { random } = this;
    if (worker.health !== "healthy" || worker.approvals.length > 0) return;
    if (worker.activity === "awaiting-input") return void (worker.hasMessages && this.endTurn(worker, "completed"));
    if (random.chance(0.05)) {
      worker.activity = "awaiting-approval";
      worker.approvals = [{ id: "a1", title: "Run make?", isAnswered: false }];
    } else if (random.chance(0.02)) worker.activity = "awaiting-input";
    else if (random.chance(0.025)) worker.health = random.pick(["hung", "stalled"]);
    else if (random.chance(0.1)) worker.observability = "lost";
    else if (random.chance(0.4))
      this.endTurn(worker, random.chance(0.8) ? "completed" : random.pick(["failed", "interrupted"]));
  }

  private endTurn(worker: SimulatedWorker, verdict: "completed" | "failed" | "interrupted"): void {
    const { random } = this;
    const failure = verdict === "failed" ? random.pick(["model-error", "billing", "quota-exhausted"] as const) : null;
    const lastTurn = { verdict, failure, error: null, startedAt: worker.lastTurn?.startedAt ?? this.now };
    Object.assign(worker, {
      turnOpen: false,
      hasMessages: false,
      activity: "idle",
      lastTurn,
      lastActivityAt: this.now,
    });
    if (failure === "quota-exhausted") worker.parked = { until: this.now + 300_000, text: "a limit is reached" };
    if (worker.git !== null) worker.git = { commit: this.newCommit(), dirty: random.chance(0.2) ? 1 : 0 };
  }

  private die(worker: SimulatedWorker, isForGood: boolean): void {
    const gone = isForGood ? { type: "release", why: "It is gone." } : null;
    const dead = { hasExited: true, gone, state: "error", liveness: "exited", activity: "unknown", health: "healthy" };
    Object.assign(worker, { ...dead, turnOpen: false, hasMessages: false, approvals: [] });
  }

  private newCommit(): string {
    this.commits += 1;
    return `commit-${this.commits}-end`;
  }
}

test(`${STEPS} steps of what it says end every item, with one worker each and none ended in its turn`, () => {
  const seen = new Set<string>();
  const total = { steps: 0, runs: 0, items: 0, done: 0, dispatched: 0, ended: 0 };
  while (total.steps < STEPS) {
    const simulation = new Simulation(`next-work ${total.runs}`);
    const most = simulation.items.size * MOST_STEPS_PER_ITEM;
    let steps = 0;
    for (; !simulation.isOver(); steps++) {
      if (steps >= most)
        throw new Error(
          `run ${total.runs}: ${JSON.stringify([...simulation.items.values(), ...simulation.workers.values()])}`,
        );
      simulation.step();
    }
    // What is asked once all is over: the queue has nothing, and the items say how they ended.
    for (let after = 0; after < 3; after++) simulation.step();
    simulation.seen.forEach((one) => seen.add(one));
    total.steps += steps;
    total.runs += 1;
    total.items += simulation.items.size;
    total.done += [...simulation.items.values()].filter(({ state }) => state === "done").length;
    total.dispatched += simulation.dispatched;
    total.ended += simulation.ended;
  }
  console.log(JSON.stringify(total));
  expect([...seen].toSorted()).toEqual([...ACTION_NAMES, ...CODE_NAMES].toSorted());
  expect(total.done).toBeGreaterThan(total.items / 10);
});
