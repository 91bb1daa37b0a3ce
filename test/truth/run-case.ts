/** Runs one case in a Reeve of its own and judges it. */
import type { Case, Lane as LanePlan, Mode } from "./case.ts";
import { runEpisode } from "./episodes.ts";
import { strike } from "./faults.ts";
import type { Finding } from "./finding.ts";
import type { History } from "./history.ts";
import { judge } from "./judge.ts";
import { CORRECTED } from "./judge-turns.ts";
import { wakeDelays } from "./judge-wakes.ts";
import { outcomeOf } from "./judge-messages.ts";
import type { Lane } from "./lane.ts";
import { CannotGoOn, createLane, EnvironmentLost, NotBegun, Stuck } from "./lane.ts";
import type { Machine } from "./machine.ts";
import type { TextKind } from "./prompts.ts";
import { createWorld, STALL_SECONDS } from "./world.ts";
import type { World } from "./world.ts";

export interface LaneResult {
  readonly mode: Mode;
  readonly history: History;
  readonly findings: readonly Finding[];
  readonly turns: number;
  readonly messages: number;
  /** Messages of which Reeve says that it does not know: honest, and counted apart. */
  readonly unknown: number;
  /** Verdicts that were told, and corrected later. */
  readonly corrected: number;
  readonly wakeDelays: readonly number[];
}

export interface CaseResult {
  readonly lanes: readonly LaneResult[];
  readonly recoveries: readonly number[];
  readonly kills: number;
}

export async function runCase({ lanes }: Case, machine: Machine): Promise<CaseResult> {
  const world = await createWorld(configFor(lanes.map(({ mode }) => mode)));
  let histories: History[] = [];
  let isRun = false;
  try {
    const runs = await Promise.all(lanes.map((plan, index) => createLane(world, plan.mode, index, machine)));
    histories = await Promise.all(runs.map((lane, index) => runLane(lane, lanes[index]?.episodes ?? [])));
    isRun = true;
  } finally {
    world.disarmFailpoint();
    // What the harness itself did wrong leaves nothing behind either.
    if (!isRun) await world.close();
  }
  const { leftBehind, diedUnasked, failedCalls } = await world.close();
  const shared = [
    ...leftBehind.map((text) => ({ kind: "left-behind" as const, text, at: Date.now() })),
    ...diedUnasked.map((text) => ({ kind: "daemon-died" as const, text, at: Date.now() })),
    ...failedCalls.map(({ words, output, at }) => ({
      kind: "command-failed" as const,
      text: `${words} failed: ${output}`,
      at,
    })),
  ];
  const results = histories.map((history, index) => resultOf(history, index === 0 ? shared : []));
  return { lanes: results, recoveries: world.recoveries, kills: killsOf(world) };
}

function resultOf(history: History, shared: readonly Finding[]): LaneResult {
  return {
    mode: history.mode,
    history,
    findings: [...judge(history), ...shared],
    turns: history.turns.length,
    messages: history.sent.length,
    unknown: history.sent.filter((sent) => outcomeOf(history.events, sent) === "unknown").length,
    corrected: history.events.filter(({ type }) => type === CORRECTED).length,
    wakeDelays: wakeDelays(history),
  };
}

async function runLane(lane: Lane, episodes: LanePlan["episodes"]): Promise<History> {
  let stuck: string | null = null;
  let isVoid = false;
  for (const episode of episodes) {
    // Once it is stuck, only the end is of interest: it must work all the same.
    if ((stuck !== null || isVoid) && episode.name !== "end") continue;
    const faults = strike(lane, episode.faults);
    try {
      if (episode.name === "start") {
        const { prompt = "none" } = episode.options;
        await lane.start(prompt === "none" ? null : (prompt as TextKind));
        if (episodes[1] === undefined || prompt === "slow") await lane.settle();
      } else await runEpisode(lane, episode);
    } catch (error) {
      if (error instanceof EnvironmentLost || error instanceof CannotGoOn) isVoid = true;
      else if (error instanceof Stuck) stuck ??= `${episode.name}: ${error.message}`;
      else if (!(error instanceof NotBegun)) throw error;
    }
    await faults.catch((error: unknown) => {
      stuck ??= `a fault of ${episode.name} could not strike: ${String(error)}`;
    });
    lane.world.disarmFailpoint();
  }
  return lane.finish(stuck);
}

/** A model that answers 429 makes Reeve wait before it gives the next message: not for a minute here, and nothing is asked of the agent by Reeve itself. */
const SHORT_LIMITS = "[quota]\nretry_seconds = 1\nresume = false\n";

function configFor(modes: readonly Mode[]): string {
  const codex = modes.includes("codex") ? "app-server" : modes.includes("codex-hooks") ? "hooks" : null;
  return [
    `[sessions]\nstall_seconds = ${STALL_SECONDS}\nhealth_interval_seconds = 2\nend_grace_seconds = 3\n`,
    SHORT_LIMITS,
    ...(codex === null ? [] : [`[agent.codex]\nmode = "${codex}"\n`]),
  ].join("\n");
}

function killsOf(world: World): number {
  return world.disturbances.filter(({ what }) => what === "no daemon").length;
}
