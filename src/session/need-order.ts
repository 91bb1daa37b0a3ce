/** The kinds of need, their order and how they are counted. It knows nothing of records, so that the command line loads little. */

/**
 * In the order in which a person should look at them:
 * blocked: it asks something, its process hangs, or nothing was heard of its turn for a while.
 * failed: its process died, could not be started, or its last turn failed and nobody has seen that.
 * finished: its turn or its program is over, and nobody has seen that.
 * unreachable: what it does is not known right now.
 * parked: it waits for a usage limit of its vendor to reset, and goes on by itself.
 */
export const NEEDS = [
  "blocked",
  "failed",
  "finished",
  "unreachable",
  "parked",
  "working",
  "idle",
  "paused",
  "stopped",
] as const;
export type Need = (typeof NEEDS)[number];

/** Those that wait for a person. */
export const NEEDS_SOMEBODY: ReadonlySet<Need> = new Set<Need>(["blocked", "failed", "finished"]);

export interface Needing {
  readonly need: Need;
  readonly need_since: string;
}

/** Who needs somebody comes first, and of those who has waited longest; the others stay as they were. */
export function byNeed(one: Needing, other: Needing): number {
  const difference = NEEDS.indexOf(one.need) - NEEDS.indexOf(other.need);
  if (difference !== 0 || !NEEDS_SOMEBODY.has(one.need)) return difference;
  // Not by localeCompare: what it loads takes longer than the rest of a list.
  return one.need_since < other.need_since ? -1 : one.need_since > other.need_since ? 1 : 0;
}

/** One of them, in words. */
export const NEED_WORDS: Readonly<Record<Need, string>> = {
  blocked: "needs you",
  failed: "failed",
  finished: "finished",
  unreachable: "unreachable",
  parked: "parked",
  working: "working",
  idle: "idle",
  paused: "paused",
  stopped: "stopped",
};

/** How many there are of each kind, in words; kinds without a session are left out. */
export function summaryParts(
  sessions: readonly Pick<Needing, "need">[],
): readonly { readonly need: Need; readonly text: string }[] {
  return NEEDS.flatMap((need) => {
    const count = sessions.filter((session) => session.need === need).length;
    const words = need === "blocked" && count > 1 ? "need you" : NEED_WORDS[need];
    return count === 0 ? [] : [{ need, text: `${count} ${words}` }];
  });
}

export const BETWEEN_PARTS = " \u00b7 ";

/** "2 need you · 1 failed · 3 working". */
export function summaryOf(sessions: readonly Needing[]): string {
  return summaryParts(sessions)
    .map(({ text }) => text)
    .join(BETWEEN_PARTS);
}
