/** Workers and worlds for tests. */
import { NO_LIMITS, type World } from "./work-world.ts";
import type { WorkItem } from "./work.ts";
import type { WorkerFacts } from "./worker-facts.ts";

/** One that is idle after its first turn. */
export function idleWorker(given: Partial<WorkerFacts> = {}): WorkerFacts {
  return {
    sessionId: "anna",
    name: "anna",
    agent: "practice",
    role: "agent",
    cwd: "/project",
    branch: null,
    worktree: null,
    state: "running",
    liveness: "running",
    activity: "idle",
    observability: "observable",
    health: "healthy",
    hasTurns: true,
    hasPrompt: true,
    turns: 1,
    turnOpen: false,
    lastTurn: { verdict: "completed", failure: null, error: null, startedAt: 2 },
    approvals: [],
    asks: null,
    hasMessages: false,
    hasExited: false,
    gone: null,
    isEnding: false,
    isHeld: false,
    parked: null,
    wait: "notification",
    hidesFirstTurn: false,
    lastActivityAt: 3,
    git: null,
    ...given,
  };
}

/** In its first turn. */
export function busyWorker(given: Partial<WorkerFacts> = {}): WorkerFacts {
  const turn = { verdict: null, failure: null, error: null, startedAt: 2 };
  return idleWorker({ activity: "working", turnOpen: true, lastTurn: turn, ...given });
}

export function goneWorker(given: Partial<WorkerFacts> = {}): WorkerFacts {
  const gone = { type: "release", why: "Session anna is gone." } as const;
  const dead = { state: "error", liveness: "exited", activity: "unknown", hasExited: true } as const;
  return idleWorker({ ...dead, gone, ...given });
}

export function worldOfFacts(
  items: readonly WorkItem[],
  workers: readonly WorkerFacts[] = [],
  given: Partial<World> = {},
): World {
  return {
    now: 10,
    items: new Map(items.map((item) => [item.id, item])),
    workers: new Map(workers.map((worker) => [worker.sessionId, worker])),
    agents: new Map([["practice", { problem: null, parked: null }]]),
    limits: NO_LIMITS,
    reusable: [],
    self: null,
    ...given,
  };
}
