/** Draws cases: which agents, what happens to each, which faults strike when. The same seed and number make the same case. */
import type { Case, Episode, Fault, FaultName, Lane, Mode } from "./case.ts";
import { EPISODES } from "./episodes.ts";
import { createRandom } from "./random.ts";
import type { Random } from "./random.ts";

/** Points around everything that passes between Reeve and an agent. */
const FAILPOINTS = [
  "send.before-commit",
  "send.after-commit",
  "send.before-effect",
  "send.leased",
  // Between paste and Enter, where text stays in a composer: drawn more often than the others.
  "send.pasted",
  "send.pasted",
  "type.between",
  "type.between",
  "send.after-effect",
  "send.after-fact",
  "read.before-commit",
  "read.after-commit",
  "read-transcript.before-commit",
  "read-transcript.after-commit",
  "answer.given",
  "interrupt.before-keys",
  "interrupt.after-effect",
  "create.planned",
  "create.after-effect",
  "stop.after-signals",
];

const FAULT_WEIGHTS: readonly (readonly [FaultName, number])[] = [
  ["kill-daemon", 6],
  ["failpoint", 4],
  ["stop-daemon", 2],
  ["stop-agent", 1],
  ["stop-tmux", 1],
  ["delete-socket", 1],
];

export interface CaseOptions {
  readonly modes: readonly Mode[];
  /** Episodes between the start and the end. */
  readonly length?: number;
}

export function drawCase(seed: string, number: number, options: CaseOptions): Case {
  const random = createRandom(`${seed}/${number}`);
  const first = options.modes[number % options.modes.length];
  if (first === undefined) throw new Error("no agent to draw from");
  const others = options.modes.filter((mode) => mode !== first && !isSameAgent(mode, first));
  const second = others.length > 0 && random.chance(0.4) ? random.pick(others) : null;
  const modes = second === null ? [first] : [first, second];
  // What ends the tmux server ends every lane: only one that is alone may do that.
  const isAlone = modes.length === 1;
  return { lanes: modes.map((mode) => drawLane(random, mode, options.length ?? random.int(1, 4), isAlone)) };
}

/** One home has one mode of Codex. */
function isSameAgent(one: Mode, other: Mode): boolean {
  return one.startsWith("codex") && other.startsWith("codex");
}

function drawLane(random: Random, mode: Mode, length: number, isAlone: boolean): Lane {
  const prompt = random.pick(["say", "none", "slow", "say"]);
  const start: Episode = { name: "start", options: { prompt }, faults: drawFaults(random, ["stop-agent"], 0.15) };
  const middle = Array.from({ length }, () => drawEpisode(random, mode, isAlone));
  const end: Episode = {
    name: "end",
    options: EPISODES["end"]?.draw(random, mode) ?? {},
    faults: drawFaults(random, EPISODES["end"]?.without ?? [], 0.15),
  };
  return { mode, episodes: [start, ...middle, end] };
}

function drawEpisode(random: Random, mode: Mode, isAlone: boolean): Episode {
  const names = Object.entries(EPISODES)
    .filter(([name, kind]) => kind.modes.includes(mode) && (isAlone || name !== "kill-tmux"))
    .flatMap(([name, kind]) => Array.from({ length: kind.weight }, () => name));
  const name = random.pick(names);
  const kind = EPISODES[name];
  if (kind === undefined) throw new Error(`no episode ${name}`);
  return { name, options: kind.draw(random, mode), faults: drawFaults(random, kind.without ?? [], 0.45) };
}

function drawFaults(random: Random, without: readonly string[], probability: number): readonly Fault[] {
  if (!random.chance(probability)) return [];
  const names = FAULT_WEIGHTS.flatMap(([name, weight]) => Array.from({ length: weight }, () => name));
  const name = random.pick(names.filter((one) => !without.includes(one)));
  const atMs = name === "failpoint" ? 0 : random.int(0, random.pick([300, 1_500, 6_000]));
  const argument =
    name === "failpoint" ? random.pick(FAILPOINTS) : name.startsWith("stop-") ? String(random.int(500, 5_000)) : null;
  const fault: Fault = { name, argument, atMs };
  return random.chance(0.2) ? [fault, { name: "kill-daemon", argument: null, atMs: random.int(0, 6_000) }] : [fault];
}
