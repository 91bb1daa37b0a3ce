/** What documents show of items of work, made from the code: the state diagram, and what next_work answers. */
import { ACTIONS, CODES } from "../src/fleet/advice.ts";
import { STATE_RULES } from "../src/fleet/next-work.ts";
import { WORK_RULES } from "../src/fleet/work-change.ts";
import { CLOSED_STATES, WORK_STATES } from "../src/fleet/work.ts";

type Rule = { readonly from: readonly string[]; readonly to: readonly string[] };

/** An arrow for each way from one state to another, with the changes that lead there. */
export function renderWorkStates(): string {
  const arrows = new Map<string, string[]>([["[*] --> pending", ["add"]]]);
  for (const [change, { from, to }] of Object.entries<Rule>(WORK_RULES))
    for (const state of from)
      for (const next of to.filter((one) => one !== "same" && one !== state)) {
        const arrow = `${named(state)} --> ${named(next)}`;
        arrows.set(arrow, [...(arrows.get(arrow) ?? []), change]);
      }
  const names = WORK_STATES.filter((state) => state.includes("-")).map(
    (state) => `    state "${state}" as ${named(state)}`,
  );
  const lines = [...arrows].map(([arrow, changes]) => `    ${arrow} : ${changes.join(", ")}`);
  const ends = CLOSED_STATES.map((state) => `    ${named(state)} --> [*]`);
  return ["stateDiagram-v2", ...names, ...lines, ...ends].join("\n");
}

/** A dash is an arrow's in this notation. */
function named(state: string): string {
  return state.replaceAll("-", "_");
}

const code = (text: string): string => `\`${text}\``;

export const workTables: Readonly<Record<string, readonly [readonly string[], readonly (readonly string[])[]]>> = {
  "actions of next_work": [
    ["`action`", "when", "what you do"],
    Object.entries(ACTIONS).map(([name, { when, todo }]) => [code(name), when, todo]),
  ],
  "codes of next_work": [
    ["`code`", "when", "what you do"],
    Object.entries(CODES).map(([name, { when, todo }]) => [code(name), when, todo]),
  ],
  "actions by state": [
    ["the item is", "next_work may answer"],
    Object.entries(STATE_RULES).map(([state, { actions }]) => [state, [...actions].toSorted().map(code).join(", ")]),
  ],
};
