/**
 * The agents and runtimes that this daemon knows, by name. A session may name
 * one that it does not know (config.toml was changed, another version made it):
 * that session gets an inert adapter, so that it does not disturb the others.
 */
import type { Agent } from "../../agent/contract.ts";
import { inertAgent } from "../../agent/inert-agent.ts";
import { nearestWord } from "../../platform/nearest-word.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import { inertRuntime } from "../../runtime/inert-runtime.ts";
import type { Identity } from "../../session/session.ts";

/** A session, as far as it says what it needs. */
interface Asked {
  readonly identity: Pick<Identity, "agent" | "runtime">;
}

export interface Adapters {
  agent(name: string): Agent;
  runtime(kind: string): Runtime;
  readonly agents: readonly Agent[];
  /** Those that are known, and an inert one for each other that a session names. */
  readonly runtimes: readonly Runtime[];
  /** What keeps this session from being written to or started again; null where nothing does. */
  impedimentOf(session: Asked): string | null;
  /** Throws what keeps this agent from being started here. */
  requireStartable(agent: string, runtime: string): void;
  /** Throws what is wrong with config.toml, where that may concern this agent's program. */
  requireConfigured(agent: Agent): void;
}

export function createAdapters(parts: {
  readonly agents: readonly Agent[];
  readonly runtimes: readonly Runtime[];
  readonly sessions: readonly Asked[];
  /** What is wrong with config.toml, of which then nothing counts. */
  readonly configProblem: ReeveError | null;
}): Adapters {
  const { configProblem } = parts;
  const agents = new Map(parts.agents.map((agent) => [agent.name, agent]));
  const runtimes = new Map(parts.runtimes.map((runtime) => [runtime.kind, runtime]));
  for (const { runtime: kind } of parts.sessions.map(({ identity }) => identity))
    if (!runtimes.has(kind)) runtimes.set(kind, inertRuntime(kind, runtimeImpediment(kind)));
  const inert = new Map<string, Agent>();

  const agent = (name: string): Agent => agents.get(name) ?? inert.get(name) ?? makeInert(name);

  function makeInert(name: string): Agent {
    const made = inertAgent(name, agentImpediment(name, configProblem));
    inert.set(name, made);
    return made;
  }

  /** Started with the defaults instead, it would be another program than the user chose. */
  function requireConfigured({ program }: Agent): void {
    if (configProblem !== null && program !== null) throw configProblem;
  }

  return {
    agent,
    runtime: (kind) => runtimes.get(kind) ?? inertRuntime(kind, runtimeImpediment(kind)),
    agents: parts.agents,
    runtimes: [...runtimes.values()],
    impedimentOf: (session) =>
      agent(session.identity.agent).impediment ??
      (parts.runtimes.some(({ kind }) => kind === session.identity.runtime)
        ? null
        : runtimeImpediment(session.identity.runtime)),
    requireStartable(agentName, runtimeKind) {
      const known = agents.get(agentName);
      if (known === undefined && configProblem !== null) throw configProblem;
      if (known === undefined) throw unknown("agent", agentName, [...agents.keys()]);
      const kinds = parts.runtimes.map(({ kind }) => kind);
      if (!kinds.includes(runtimeKind)) throw unknown("runtime", runtimeKind, kinds);
      requireConfigured(known);
    },
    requireConfigured,
  };
}

function agentImpediment(name: string, configProblem: ReeveError | null): string {
  if (configProblem !== null)
    return `Reeve does not know the agent ${name}: ${configProblem.message} Until then the session can be looked at and ended, but not restarted or written to.`;
  return `The agent ${name} is not in config.toml any more, so the session can be looked at and ended, but not restarted or written to; put [agent.${name}] back and run: reeve daemon stop.`;
}

function runtimeImpediment(kind: string): string {
  return `This version of Reeve does not know the runtime ${kind}, so it cannot see or change the session; install the version that started it.`;
}

function unknown(what: string, name: string, known: readonly string[]): ReeveError {
  const nearest = nearestWord(name, known);
  return new ReeveError({
    code: `unknown-${what}`,
    kind: "usage",
    message: `There is no ${what} "${name}"; ${nearest === null ? `known are: ${known.join(", ")}.` : `did you mean ${nearest}?`}`,
    details: { nearest },
  });
}
