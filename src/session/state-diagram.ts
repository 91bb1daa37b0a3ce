/**
 * Draws the state diagram by running `transition` itself: every input on every
 * record that can be reached. So the picture shows what the code does.
 */
import { amend } from "./amend.ts";
import { SYSTEM } from "./caller.ts";
import type { Context, Input } from "./input.ts";
import { planSession } from "./plan-session.ts";
import { NO_RESTARTS, type RestartPolicy } from "./restart-record.ts";
import type { Evidence, Session } from "./session.ts";
import { transition } from "./transition.ts";
import { plainLaunch } from "./plain-launch.ts";

const context: Context = { now: 0, random: 0 };
const evidence: Evidence = { source: "runtime", detail: "walk", at: 0 };
const place = { name: "place" };
const shown = { text: "process 1", id: null, pid: 1 };

export interface Edge {
  readonly from: string;
  readonly to: string;
  readonly inputs: readonly string[];
}

function stateEdges(): readonly Edge[] {
  const edges = new Map<string, Set<string>>([["[*] starting", new Set(["start"])]]);
  for (const policy of ["never", "on-failure", "always"] as const) walk(first(policy), edges);
  return [...edges]
    .map(([key, inputs]) => {
      const [from = "", to = ""] = key.split(" ");
      return { from, to, inputs: [...inputs].toSorted() };
    })
    .toSorted((a, b) => a.from.localeCompare(b.from) || a.to.localeCompare(b.to));
}

export function renderStateDiagram(): string {
  const lines = stateEdges().map((edge) => `    ${edge.from} --> ${edge.to} : ${edge.inputs.join(", ")}`);
  return ["stateDiagram-v2", ...lines].join("\n");
}

function walk(start: Session, edges: Map<string, Set<string>>): void {
  const seen = new Set<string>();
  const waiting = [start];
  for (let session = waiting.pop(); session !== undefined; session = waiting.pop()) {
    const key = shapeOf(session);
    if (seen.has(key)) continue;
    seen.add(key);
    for (const input of inputsFor(session.process.incarnation)) {
      const outcome = transition(session, input, context);
      if (outcome.refused !== null || outcome.session === session) continue;
      if (outcome.session.state !== session.state)
        note(edges, `${session.state} ${outcome.session.state}`, nameOf(input));
      // Incarnations differ only in number: the walk would never end.
      waiting.push(
        amend(outcome.session, {
          process: { incarnation: 1, restart: { ...NO_RESTARTS, dueAt: outcome.session.process.restart.dueAt } },
          revision: 1,
        }),
      );
    }
  }
}

function note(edges: Map<string, Set<string>>, key: string, input: string): void {
  const inputs = edges.get(key) ?? new Set();
  edges.set(key, inputs.add(input));
}

/** What can make a difference to the next transition. */
function shapeOf(session: Session): string {
  const { process } = session;
  const { state } = session;
  const { desired, pauseMode, stop } = session.wish;
  const { suspended, exit } = process;
  const { turnOpen } = session.conversation;
  return JSON.stringify([
    state,
    desired,
    pauseMode,
    suspended,
    stop,
    exit,
    turnOpen,
    process.place !== null,
    process.liveness.status,
    process.restart.dueAt !== null,
    session.conversation.activity.status,
  ]);
}

function nameOf(input: Input): string {
  if (input.type === "found-exited") return input.code === 0 ? "exited 0" : "exited non-zero";
  return input.type.replace("found-", "");
}

function inputsFor(incarnation: number): readonly Input[] {
  return [
    { type: "pause", mode: "detach" },
    { type: "pause", mode: "suspend" },
    { type: "resume" },
    { type: "restart", graceMs: 0 },
    { type: "end", graceMs: 0, afterTurn: false },
    { type: "created", incarnation, place, shown, evidence },
    { type: "create-failed", incarnation, code: "failed", evidence },
    { type: "found-running", incarnation, place, shown, evidence, adopted: false },
    { type: "found-exited", incarnation, code: 0, signal: null, evidence },
    { type: "found-exited", incarnation, code: 1, signal: null, evidence },
    { type: "found-absent", incarnation, asked: place, evidence },
    { type: "found-unreachable", incarnation, asked: place, evidence },
    { type: "found-frozen", incarnation, evidence },
    { type: "found-thawed", incarnation, evidence },
    { type: "suspended", incarnation, evidence },
    { type: "released", incarnation, evidence },
    { type: "cleared", incarnation, isPlaceGone: true, evidence },
    { type: "restart-due" },
  ];
}

function first(restartPolicy: RestartPolicy): Session {
  const launch = plainLaunch("/");
  const identity = {
    id: "walk",
    name: "walk",
    role: "walk",
    agent: "walk",
    runtime: "walk",
    outputsDir: "/",
    hasTurns: false,
  };
  const unknown = {
    parentId: null,
    notify: [],
    branch: null,
    nativeId: null,
    watch: { mode: "hooks", text: "", version: null, socket: null, statusDir: null, capture: null },
    transcriptPath: null,
    observabilityReason: "walk",
    passHash: "walk",
  };
  return planSession({ ...identity, ...unknown, launch, restartPolicy }, 0, SYSTEM).session;
}
