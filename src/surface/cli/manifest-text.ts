/** A plan of a manifest as text. Pure. */
import { showValue } from "../../platform/shown-value.ts";
import { columns } from "./help.ts";
import type { ManifestPlan } from "./manifest-file.ts";
import { oneLine } from "./session-text.ts";

type Step = ManifestPlan["steps"][number];

const WORDS = {
  start: "to start",
  replace: "to replace",
  "bring-back": "to bring back",
  keep: "unchanged",
  remove: "no longer in the manifest",
} as const satisfies Record<Step["action"], string>;

export function planText({ steps, services, verify, different }: ManifestPlan): string {
  const lines = steps.flatMap((step) => stepRows(step));
  return [
    ...columns(lines),
    ...(services.length === 0
      ? []
      : ["", "Services:", ...columns(services.map(({ name, url }) => [name, oneLine(url)] as const))]),
    ...(verify === null ? [] : ["", `Work is verified with: ${oneLine(verify.join(" "))}`]),
    "",
    `${summaryOf(steps)}. ${different ? "Carry it out with: reeve up" : "Nothing to do."}`,
  ].join("\n");
}

function stepRows(step: Step): readonly (readonly [string, string])[] {
  const { id, action, why, changes } = step;
  const details = changes
    .filter(({ key }) => key !== "prompt")
    .map(({ key, before, after }) => ["", `${key}: ${valueOf(before)} -> ${valueOf(after)}`] as const);
  return [[`${action} ${id}`, oneLine(why)], ...details];
}

function valueOf(value: unknown): string {
  return value === null ? "nothing" : showValue(value);
}

/** `2 to start, 3 as they should be`. */
export function summaryOf(steps: readonly Step[]): string {
  const counted = Object.entries(WORDS).map(([action, words]) => {
    const count = steps.filter((step) => step.action === action).length;
    return count === 0 ? "" : `${count} ${words}`;
  });
  return counted.filter((text) => text !== "").join(", ");
}
