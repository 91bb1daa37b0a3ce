/** When things happened in a run, from its events: what docs/spec/agent-behaviors shows for each agent. */
import type { EventRow } from "../support/test-home.ts";

const MILESTONES = {
  "session-starting": "asked for",
  "session-running": "process started",
  "conversation-known": "id known",
  "observability-changed": "transcript there",
  "turn-started": "turn begun",
  "turn-completed": "turn ended",
} as const;

export function timelineOf(title: string, events: readonly (EventRow & { readonly at?: string })[]): string {
  const first = Date.parse(events[0]?.at ?? "");
  const rows = events.flatMap((event) => {
    const what = MILESTONES[event.type as keyof typeof MILESTONES];
    if (what === undefined) return [];
    const after = Date.parse(event.at ?? "") - first;
    return [`${String(after).padStart(6)} ms  ${what}${sourceOf(event)}`];
  });
  return [`timeline of ${title}`, ...rows].join("\n");
}

function sourceOf({ data }: EventRow): string {
  const { evidence } = data as { readonly evidence?: { readonly source?: string; readonly detail?: string } };
  return evidence?.source === undefined ? "" : ` (${evidence.source}: ${evidence.detail ?? ""})`;
}
