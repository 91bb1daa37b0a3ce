/** The command line of `npm run truth`. */
import { parseArgs } from "node:util";
import type { Mode } from "./case.ts";
import { MODES } from "./case.ts";

export const USAGE = `Usage: npm run truth -- [--minutes N] [--seed S] [--agents LIST] [--write]
       npm run truth -- --repeat CASE [--times N]
       npm run truth -- --kills N [--sessions N] [--seed S] [--write]

Compares what Reeve says of real agents with what really happened, and prints a table.
Ends with status 1 if anything was not true.

  --minutes N    draw new cases for so long (5)
  --cases N      and at most so many
  --seed S       the same seed draws the same cases (1)
  --agents LIST  of ${MODES.join(", ")} (all)
  --parallel N   cases at a time (2)
  --shrink N     how many runs a failure may cost to find a shorter way to repeat it (6)
  --repeat CASE  run just this case, as a failure prints it, or SEED/NUMBER; may be given several times
  --times N      how often (1)
  --kills N      kill the daemon so often under load
  --sessions N   with so many sessions (24)
  --keep DIR     write the history of each case that failed there
  --write        put the table into docs/spec/reliability.md
`;

export interface Options {
  readonly help: boolean;
  readonly minutes: number;
  readonly cases: number;
  readonly seed: string;
  readonly agents: readonly Mode[];
  readonly parallel: number;
  readonly shrink: number;
  readonly repeat: readonly string[];
  readonly times: number;
  readonly kills: number;
  readonly sessions: number;
  readonly keep: string | null;
  readonly write: boolean;
}

/** Throws an Error that says what is not understood. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: "boolean", default: false },
      minutes: { type: "string", default: "5" },
      cases: { type: "string", default: "100000" },
      seed: { type: "string", default: "1" },
      agents: { type: "string", default: MODES.join(",") },
      parallel: { type: "string", default: "2" },
      shrink: { type: "string", default: "6" },
      repeat: { type: "string", multiple: true, default: [] },
      times: { type: "string", default: "1" },
      kills: { type: "string", default: "0" },
      sessions: { type: "string", default: "24" },
      keep: { type: "string" },
      write: { type: "boolean", default: false },
    },
  });
  return {
    help: values.help,
    minutes: numberOf("minutes", values.minutes),
    cases: numberOf("cases", values.cases),
    seed: values.seed,
    agents: values.agents.split(",").map(modeOf),
    parallel: numberOf("parallel", values.parallel),
    shrink: numberOf("shrink", values.shrink),
    repeat: values.repeat,
    times: numberOf("times", values.times),
    kills: numberOf("kills", values.kills),
    sessions: numberOf("sessions", values.sessions),
    keep: values.keep ?? null,
    write: values.write,
  };
}

function numberOf(name: string, text: string): number {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new Error(`--${name} takes a number, not ${text}.`);
  return Number(text);
}

function modeOf(name: string): Mode {
  const mode = MODES.find((one) => one === name);
  if (mode === undefined) throw new Error(`--agents takes ${MODES.join(", ")}, separated by commas, not ${name}.`);
  return mode;
}
