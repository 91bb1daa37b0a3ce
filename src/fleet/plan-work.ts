/**
 * Everything that can be done about the queue now, in the order in which it is to
 * be done: what `reeve work run` carries out. Each step is what next-work says of
 * its item; this adds only what concerns several of them. What was begun comes
 * first, then the items that nobody has begun: by priority, and of the same
 * priority in turns, first for the role with the fewest workers. A step that
 * gives an item out uses up a worker, or room for one, for those after it. Pure.
 */
import { type Advice, advise } from "./advice.ts";
import { fits, isFree, isFull } from "./dispatch-advice.ts";
import { STATE_RULES } from "./next-work.ts";
import { oneFewer } from "./work-limits.ts";
import { type Repair, repaired } from "./work-repair.ts";
import { type Situation, situationOf, type World } from "./work-world.ts";
import { inOrder, isClosed, type WorkItem } from "./work.ts";

export interface Step {
  readonly advice: Advice;
  readonly item: WorkItem | null;
  /** Of a review: the command that decides it; null: nothing does, and what was built is taken as it is. */
  readonly verify: readonly string[] | null;
}

export interface WorkPlan {
  /** To be done now, in this order. */
  readonly steps: readonly Step[];
  /** What is waited for, and what needs a person. */
  readonly held: readonly Advice[];
  /** Items that wait for others to be done. */
  readonly blocked: number;
  /** Items that wait for a free worker. */
  readonly queued: number;
  /** To be committed first, in this order. */
  readonly repairs: readonly Repair[];
}

export interface Planning {
  /** Workers of the pool: they are ended when nothing is left for them. Others are left alone. */
  readonly pooled: readonly string[];
  /** For items that name no command. */
  readonly verify: readonly string[] | null;
  /** Items that whoever asks cannot begin now. */
  readonly except: ReadonlySet<string>;
}

export function planWork(world: World, planning: Planning): WorkPlan {
  const { items, repairs } = repaired(world);
  let situation = situationOf({ ...world, items });
  const steps: Step[] = [];
  const held: Advice[] = [];
  let blocked = 0;
  let queued = 0;

  function take(item: WorkItem): Advice {
    const advice = withinLimits(situation, item, STATE_RULES[item.state].advise(situation, item));
    const step = stepOf(advice, item, planning);
    if (step !== null) {
      steps.push(step);
      if (givesOut(step.advice)) situation = after(situation, step.advice, item);
    } else if (advice.code === "dependencies-unsatisfied" && advice.action === "none") blocked += 1;
    else held.push(advice);
    return advice;
  }

  const open = [...items.values()].filter(({ state }) => !isClosed(state)).toSorted(inOrder);
  for (const item of open) if (item.state !== "pending") take(item);
  const pending = open.filter(({ state, id }) => state === "pending" && !planning.except.has(id));
  const turns = inTurns(pending, flightsByRole(situation));
  for (let item = turns.next(); item !== null; item = turns.next()) {
    const { workers } = situation.limits;
    if (workers !== null && workers <= 0) queued += 1;
    else if (take(item).action === "dispatch") turns.gave(item);
  }
  if (steps.length === 0) steps.push(...sparesOf(situation, planning, held));
  return { steps, held, blocked, queued, repairs };
}

/** Also who is sent back to an item has it then. */
function withinLimits(world: Situation, item: WorkItem, advice: Advice): Advice {
  if (advice.action !== "fix") return advice;
  const worker = world.workers.get(advice.sessionId ?? "");
  const isPossible = worker === undefined || !isFull(world, { ...item, agent: worker.agent, role: worker.role });
  if (isPossible) return advice;
  return advise("none", `"${item.title}" waits for changes, and as many workers have an item as may.`, {
    code: "no-agent-available",
    workId: item.id,
  });
}

function givesOut({ action }: Advice): boolean {
  return action === "dispatch" || action === "fix";
}

/** Null: nothing that can be done without a person, or now. */
function stepOf(advice: Advice, item: WorkItem, { verify, pooled }: Planning): Step | null {
  const command = item.verification === null ? (item.verify ?? verify) : null;
  switch (advice.action) {
    case "review":
      return command === null && item.review === "required" ? null : { advice, item, verify: command };
    case "finalise":
      // What needs no review is still verified.
      return command !== null && item.state === "built"
        ? { advice: { ...advice, action: "review" }, item, verify: command }
        : { advice, item, verify: null };
    case "end-session": {
      const isOurs = pooled.includes(advice.sessionId ?? "");
      return { advice: isOurs ? advice : { ...advice, action: "done", sessionId: null }, item, verify: null };
    }
    case "send-details":
      return advice.message === null ? null : { advice, item, verify: null };
    case "dispatch":
    case "read":
    case "fix":
    case "done":
      return { advice, item, verify: null };
    case "prepare":
    case "wait":
    case "escalate":
    case "none":
      return null;
  }
}

/** As it will be when this was done. */
function after(world: Situation, { dispatch, sessionId }: Advice, item: WorkItem): Situation {
  const worker = sessionId === null ? undefined : world.workers.get(sessionId);
  const agent = worker?.agent ?? dispatch?.agent ?? "";
  const limits = oneFewer(world.limits, agent, worker?.role ?? dispatch?.role ?? null);
  const flights = sessionId === null ? world.flights : new Map(world.flights).set(sessionId, item.id);
  return { ...world, limits, flights };
}

function flightsByRole({ items, workers }: Situation): Map<string | null, number> {
  const found = new Map<string | null, number>();
  for (const { flight, role } of items.values()) {
    if (flight === null) continue;
    const whose = role === null ? null : (workers.get(flight.sessionId)?.role ?? role);
    found.set(whose, (found.get(whose) ?? 0) + 1);
  }
  return found;
}

/** Highest priority first; of the same priority, the oldest of the role with the fewest workers. */
function inTurns(items: readonly WorkItem[], flights: Map<string | null, number>) {
  const byPriority = Map.groupBy(items, ({ priority }) => priority);
  const groups = [...byPriority.values()].map((group) => [...Map.groupBy(group, ({ role }) => role)]);
  return {
    next(): WorkItem | null {
      let group = groups[0];
      while (group !== undefined && group.length === 0) {
        groups.shift();
        group = groups[0];
      }
      if (group === undefined) return null;
      const fewest = Math.min(...group.map(([role]) => flights.get(role) ?? 0));
      const index = group.findIndex(([role]) => (flights.get(role) ?? 0) === fewest);
      const [, waiting = []] = group[index] ?? [];
      const [item = null] = waiting.splice(0, 1);
      if (waiting.length === 0) group.splice(index, 1);
      return item;
    },
    gave: ({ role }: WorkItem): void => void flights.set(role, (flights.get(role) ?? 0) + 1),
  };
}

/** Free workers of the pool for which no item is left. Where nothing goes on at all, none is left for anybody. */
function sparesOf(world: Situation, { pooled }: Planning, held: readonly Advice[]): readonly Step[] {
  const goesOn = world.flights.size > 0 || held.some(({ wait, until }) => wait !== null || until !== null);
  const wanted = [...world.items.values()].filter(
    ({ state }) => world.reusable.length > 0 && goesOn && (state === "pending" || state === "changes-requested"),
  );
  return pooled.flatMap((sessionId) => {
    const worker = world.workers.get(sessionId);
    if (worker === undefined || !isFree(world, worker) || wanted.some((item) => fits(worker, item))) return [];
    const text = `Session ${worker.name} has no item, and none is left for it: end it.`;
    return [{ advice: advise("end-session", text, { sessionId }), item: null, verify: null }];
  });
}
