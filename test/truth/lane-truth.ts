/** The truth of one lane, whatever its agent: its turns, and the texts that reached it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RecordedRequest } from "../scripted-model/record.ts";
import type { AgentFiles } from "./agent-files.ts";
import type { Mode } from "./case.ts";
import type { TurnRules } from "./ground-truth.ts";
import { arrivalsOf, practiceArrivals, practiceTurns, tagOf, turnsOf } from "./ground-truth.ts";
import type { Arrival, TrueTurn } from "./history.ts";
import { linesArrived } from "./lines.ts";

export interface LaneTruth {
  turns(): readonly TrueTurn[];
  arrivals(): readonly Arrival[];
  /** What the model was asked, for a person to read. */
  trace(): readonly string[];
}

export function laneTruth(
  mode: Mode,
  files: AgentFiles,
  workDir: string,
  requests: () => readonly RecordedRequest[],
  rules: TurnRules,
): LaneTruth {
  const ownFile = (): string => readIfThere(files.list()[0]);
  const turns = (): readonly TrueTurn[] =>
    mode === "practice" ? practiceTurns(ownFile(), rules) : turnsOf(requests(), rules);
  return {
    turns,
    arrivals() {
      if (mode === "practice") return practiceArrivals(ownFile());
      if (mode === "command") return linesArrived(readIfThere(join(workDir, "received")));
      const found = arrivalsOf(requests(), turns());
      // What the agent took and never gave to the model, because it was killed or stopped first.
      const known = new Set(found.map(({ text }) => tagOf(text)));
      const onDisk = files.typed().filter((text) => tagOf(text) !== "" && !known.has(tagOf(text)));
      return [...found, ...onDisk.map((text) => ({ text, at: Date.now(), times: 1 }))];
    },
    trace: () => requests().map(traceOf),
  };
}

function traceOf({ at, finishedAt, outcome, prompt, says, calls, messages }: RecordedRequest): string {
  const last = messages.slice(-4).map(({ role, text }) => `${role}: ${text.slice(0, 300)}`);
  return JSON.stringify({
    at,
    finishedAt,
    outcome,
    prompt: prompt.slice(0, 200),
    says: says.slice(0, 60),
    calls,
    last,
  });
}

function readIfThere(path: string | undefined): string {
  return path !== undefined && existsSync(path) ? readFileSync(path, "utf8") : "";
}
