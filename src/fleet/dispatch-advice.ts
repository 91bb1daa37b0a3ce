/** What is to be done about an item that nobody works on and that is to be begun, or begun again. Pure. */
import { type Advice, advise } from "./advice.ts";
import { momentText } from "./parked.ts";
import { promptOf } from "./work-prompt.ts";
import type { Situation } from "./work-world.ts";
import type { WorkItem } from "./work.ts";
import { isAsking, isBusy, type WorkerFacts } from "./worker-facts.ts";

export function adviseDispatch(world: Situation, item: WorkItem): Advice {
  return blockedByDependencies(world, item) ?? missing(item) ?? unavailable(world, item) ?? dispatch(world, item);
}

function blockedByDependencies(world: Situation, item: WorkItem): Advice | null {
  const states = item.dependencies.map((id) => ({ id, state: world.items.get(id)?.state ?? "not there" }));
  const broken = states.find(({ state }) => state === "failed" || state === "cancelled" || state === "not there");
  if (broken !== undefined)
    return advise(
      "escalate",
      `"${item.title}" depends on ${broken.id}, which is ${broken.state}. Ask the person whether to retry that one, or to take it off the dependencies.`,
      { code: "dependencies-unsatisfied", workId: item.id, report: ["edit", "cancel"] },
    );
  const open = states.filter(({ state }) => state !== "done");
  if (open.length === 0) return null;
  const names = open.map(({ id, state }) => `${id} (${state})`).join(", ");
  return advise("none", `"${item.title}" has to wait until these are done: ${names}. Work on them first.`, {
    code: "dependencies-unsatisfied",
    workId: item.id,
  });
}

function missing(item: WorkItem): Advice | null {
  const lacks = [...(item.agent === null ? ["agent"] : []), ...(item.cwd === null ? ["cwd"] : [])];
  if (lacks.length === 0) return null;
  return advise("prepare", `"${item.title}" lacks ${lacks.join(" and ")}: decide that, and report it with edit.`, {
    workId: item.id,
    report: ["edit"],
  });
}

function unavailable(world: Situation, item: WorkItem): Advice | null {
  const agent = item.agent ?? "";
  const facts = world.agents.get(agent);
  const about = { workId: item.id };
  const problem = facts === undefined ? `Reeve knows no agent ${agent}.` : facts.problem;
  if (problem !== null)
    return advise("none", `"${item.title}" needs ${agent}, which cannot be started: ${problem}`, {
      ...about,
      code: "no-agent-available",
    });
  const parked = facts?.parked ?? null;
  if (parked !== null)
    return advise(
      "none",
      `"${item.title}" waits for a usage limit: ${parked.text}. Ask again after ${momentText(parked.until, world.now)}.`,
      { ...about, code: "parked-by-quota", until: parked.until },
    );
  const full = isFull(world, item) && reusableFor(world, item) === null;
  return full
    ? advise("none", `"${item.title}" waits for a free worker: as many run as may. Wait for one of them.`, {
        ...about,
        code: "no-agent-available",
      })
    : null;
}

export function isFull({ limits }: Situation, { agent, role }: WorkItem): boolean {
  const left = [limits.workers, limits.byAgent[agent ?? ""] ?? null, limits.byRole[role ?? ""] ?? null];
  return left.some((one) => one !== null && one <= 0);
}

function dispatch(world: Situation, item: WorkItem): Advice {
  const { agent, role, branch, cwd } = item;
  const to = reusableFor(world, item);
  const how =
    to === null
      ? `start_session with agent ${agent}, this cwd${branch === null ? "" : ` and branch ${branch} (with worktree, unless the cwd is on that branch)`}`
      : `send_message to ${to.name}`;
  return advise("dispatch", `Give "${item.title}" to a worker: ${how}, the prompt as it is, and work ${item.id}.`, {
    workId: item.id,
    sessionId: to?.sessionId ?? null,
    dispatch: { agent: agent ?? "", role, cwd: cwd ?? "", branch, prompt: promptOf(item), to: to?.sessionId ?? null },
  });
}

/** An idle worker that is what the item asks for, and that nothing else needs. */
function reusableFor(world: Situation, item: WorkItem): WorkerFacts | null {
  for (const sessionId of world.reusable) {
    const worker = world.workers.get(sessionId);
    if (worker !== undefined && fits(worker, item) && isFree(world, worker)) return worker;
  }
  return null;
}

export function fits({ agent, role, branch, cwd, worktree }: WorkerFacts, item: WorkItem): boolean {
  const isThere = cwd === item.cwd || worktree === item.cwd;
  return agent === item.agent && (item.role === null || item.role === role) && branch === item.branch && isThere;
}

export function isFree({ flights, builders }: Situation, worker: WorkerFacts): boolean {
  const { sessionId, state, liveness, hasExited, isEnding, isHeld, parked } = worker;
  const isReady = state === "running" && liveness === "running" && !hasExited && !isEnding && !isHeld;
  const isNeeded = flights.has(sessionId) || builders.has(sessionId);
  return isReady && !isNeeded && parked === null && !isBusy(worker) && !isAsking(worker);
}
