/** Compares every claim with the truth. Pure: a history in, findings out, the same each time. */
import type { Finding } from "./finding.ts";
import type { History } from "./history.ts";
import { judgeInterrupts } from "./judge-interrupts.ts";
import { judgeLiveness } from "./judge-liveness.ts";
import { judgeDrafts, judgeMessages } from "./judge-messages.ts";
import { judgeTurns } from "./judge-turns.ts";
import { judgeWakes } from "./judge-wakes.ts";

export function judge(history: History): readonly Finding[] {
  if (history.isEnvironmentLost) return judgeRest(history);
  const found = [
    ...judgeTurns(history),
    ...judgeWakes(history),
    ...judgeMessages(history),
    ...judgeDrafts(history),
    ...judgeInterrupts(history),
    ...judgeLiveness(history),
    ...judgeRest(history),
  ];
  return found.toSorted((one, other) => one.at - other.at);
}

function judgeRest({ seen, failedCommands, leftBehind, stuck, finishedAt }: History): readonly Finding[] {
  return [
    ...seen,
    ...failedCommands.map(({ words, status, output, at }) => ({
      kind: "command-failed" as const,
      text: `\`${words}\` ended with ${status}: ${output.slice(0, 300)}`,
      at,
    })),
    ...leftBehind.map((what) => ({ kind: "left-behind" as const, text: what, at: finishedAt })),
    ...(stuck === null ? [] : [{ kind: "stuck" as const, text: stuck, at: finishedAt }]),
  ];
}
