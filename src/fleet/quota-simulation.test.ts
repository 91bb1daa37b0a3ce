/**
 * Sessions of one account against a vendor with two limits, at random from
 * seeds: turns take time, fail in other ways, resets are stated rightly, wrongly
 * or not at all, sessions die and get more to do. Nothing is begun behind a
 * closed gate, there is never more than one canary, and in the end everything is
 * done and open.
 */
import { expect, test } from "vitest";
import { createRandom, type Random } from "../../test/truth/random.ts";
import { heldBy, isClosed, type Quota } from "./quota.ts";
import { advanced, type Draw, type Passed, released } from "./quota-gate.ts";
import { afterRejection } from "./quota-report.ts";

const ACCOUNT = "practice work";
const LIMITS = ["requests", "tokens"] as const;
const STEP_MS = 500;

interface Worker {
  readonly id: string;
  work: number;
  isAlive: boolean;
  turns: number;
  verdict: Draw["verdict"];
  startedAt: number | null;
  /** When its turn ends. */
  endsAt: number | null;
}

class World {
  now = 1_000_000;
  readonly book = new Map<string, Quota>();
  readonly workers: Worker[] = ["a", "b", "c", "d", "e", "f"].map((id) => ({
    id,
    work: 2,
    isAlive: true,
    turns: 0,
    verdict: null,
    startedAt: null,
    endsAt: null,
  }));
  /** Until when the vendor rejects everything, by limit. */
  readonly exhausted = new Map<string, number>();
  readonly canaries = new Map<string, { readonly sessionId: string; readonly since: number }>();
  readonly releaseAt = new Map<string, number>();
  readonly random: Random;

  constructor(seed: string) {
    this.random = createRandom(seed);
  }

  draws(): readonly Draw[] {
    return this.workers
      .filter(({ isAlive }) => isAlive)
      .map(({ id, work, turns, verdict, startedAt, endsAt }) => ({
        sessionId: id,
        account: ACCOUNT,
        hasWork: work > 0,
        hasFailedTurn: false,
        mayGo: true,
        isBusy: endsAt !== null,
        isAsking: false,
        turns,
        outputTokens: 0,
        verdict: endsAt === null ? verdict : null,
        turnStartedAt: startedAt,
        hasReport: false,
      }));
  }

  readonly passed: Passed = {
    leftMs: ({ gate }) => gate.dueAt - this.now,
    canaryMs: ({ id }) => this.now - (this.canaries.get(id)?.since ?? this.now),
    wasAnswered: () => false,
    wasTried: () => false,
  };

  put(changed: readonly Quota[]): void {
    for (const quota of changed) {
      expect(quota.revision, quota.id).toBe((this.book.get(quota.id)?.revision ?? 0) + 1);
      this.book.set(quota.id, quota);
      const sessionId = quota.gate?.canary?.sessionId;
      if (sessionId === undefined) this.canaries.delete(quota.id);
      else if (this.canaries.get(quota.id)?.sessionId !== sessionId)
        this.canaries.set(quota.id, { sessionId, since: this.now });
      if (quota.gate?.phase === "opening") this.releaseAt.set(quota.id, this.now + 1_000);
      else this.releaseAt.delete(quota.id);
    }
    const canaries = [...this.book.values()].flatMap(({ gate }) => gate?.canary?.sessionId ?? []);
    expect(new Set(canaries).size, "canaries").toBeLessThanOrEqual(1);
  }

  review(): void {
    // In any order: who is first in the list must not matter.
    const draws = this.draws().toSorted(() => this.random.int(-1, 1));
    this.put(advanced([...this.book.values()], draws, this.passed).changed);
    for (const { gate } of this.book.values()) {
      const canary = this.workers.find(({ id, endsAt }) => id === gate?.canary?.sessionId && endsAt === null);
      if (canary !== undefined) expect(heldBy(this.book.values(), ACCOUNT, canary.id), "a canary").toBeNull();
    }
    const due = [...this.book.values()]
      .filter(isClosed)
      .filter(({ id }) => (this.releaseAt.get(id) ?? Infinity) <= this.now);
    this.put(due.map((quota) => released(quota, this.draws())));
  }

  reject(worker: Worker): void {
    const [limit, until] = [...this.exhausted].find(([, end]) => end > this.now) ?? [];
    if (limit === undefined || until === undefined) return;
    const isNamed = this.random.chance(0.8);
    const offset = this.random.pick([0, 0, 0, -5_000, 3_000]);
    const resetsAt = isNamed && this.random.chance(0.7) ? until + offset : null;
    const rejection = {
      limit: isNamed ? limit : null,
      usedPercent: null,
      resetsAt,
      confidence: resetsAt === null ? ("none" as const) : ("stated" as const),
      source: this.random.pick(["hook", "transcript", "protocol"] as const),
      text: "rejected",
      at: this.now,
    };
    const reporter = { account: ACCOUNT, sessionId: worker.id };
    const moment = { now: this.now, random: this.random.next(), firstWaitMs: 4_000 };
    this.put(afterRejection([...this.book.values()], rejection, reporter, moment));
    const isHeld = heldBy(this.book.values(), ACCOUNT, worker.id) !== null;
    expect(isHeld, "whoever was rejected waits").toBe(true);
  }

  end(worker: Worker): void {
    worker.endsAt = null;
    const isRejected = [...this.exhausted.values()].some((until) => until > this.now);
    if (isRejected) {
      worker.verdict = "failed";
      return this.reject(worker);
    }
    worker.verdict = this.random.chance(0.9) ? "completed" : "failed";
    worker.work--;
  }

  begin(worker: Worker): void {
    if (!worker.isAlive || worker.work === 0 || worker.endsAt !== null) return;
    if (heldBy(this.book.values(), ACCOUNT, worker.id) !== null) return;
    const probing = [...this.book.values()].filter(({ gate }) => gate?.phase === "probing");
    for (const { gate } of probing) expect(gate?.canary?.sessionId).toBe(worker.id);
    worker.turns++;
    worker.startedAt = this.now;
    worker.endsAt = this.now + this.random.int(0, 4_000);
  }

  /** Until nobody has anything left to do. */
  finish(): void {
    for (let steps = 0; this.workers.some(({ isAlive, work }) => isAlive && work > 0); steps++) {
      if (steps === 20_000) throw new Error(`stuck: ${JSON.stringify([...this.book.values()])}`);
      this.step();
    }
  }

  step(): void {
    this.now += STEP_MS;
    for (const worker of this.workers) if (worker.endsAt !== null && worker.endsAt <= this.now) this.end(worker);
    this.review();
    for (const worker of this.workers) this.begin(worker);
  }
}

test.each(Array.from({ length: 40 }, (_, index) => `seed ${index}`))(
  "never into a closed gate, never two canaries, always open in the end: %s",
  (seed) => {
    const world = new World(seed);
    for (let step = 0; step < 200; step++) {
      if (world.random.chance(0.06))
        world.exhausted.set(world.random.pick(LIMITS), world.now + world.random.int(1_000, 30_000));
      const worker = world.random.pick(world.workers);
      if (world.random.chance(0.05)) worker.work++;
      if (world.random.chance(0.02) && world.workers.filter(({ isAlive }) => isAlive).length > 2)
        worker.isAlive = false;
      world.step();
    }
    world.exhausted.clear();
    world.finish();
    // With nothing left to do a gate may wait for the first that has: that one opens it.
    for (const worker of world.workers.filter(({ isAlive }) => isAlive)) worker.work++;
    world.finish();
    const closed = [...world.book.values()].filter(isClosed).map(({ gate }) => gate.phase);
    expect(closed.filter((phase) => phase === "waiting")).toEqual([]);
  },
);
