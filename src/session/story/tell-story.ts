/** Puts the parts of a story in order, and says of each in which turn it was. */
import { STORY_SOURCES, type StoryEntry, type StoryPart, type StorySource, inSeconds } from "./entry.ts";
import { placesOf } from "./place.ts";

/** Each source in its own order, which the story keeps. */
export type StoryParts = Readonly<Record<StorySource, readonly StoryPart[]>>;

export function tellStory(parts: StoryParts): readonly StoryEntry[] {
  const sources = STORY_SOURCES.map((name) => parts[name]);
  const places = placesOf(sources);
  const next = sources.map(() => 0);
  const merged: { readonly part: StoryPart; readonly place: number }[] = [];
  for (;;) {
    let first = -1;
    for (const index of sources.keys()) {
      const place = places[index]?.[next[index] ?? 0];
      if (place === undefined) continue;
      if (first < 0 || place < (places[first]?.[next[first] ?? 0] ?? 0)) first = index;
    }
    const part = sources[first]?.[next[first] ?? 0];
    if (part === undefined) break;
    merged.push({ part, place: places[first]?.[next[first] ?? 0] ?? 0 });
    next[first] = (next[first] ?? 0) + 1;
  }
  return withTurns(merged);
}

/**
 * What somebody says just before a turn begins is its prompt, what the agent says after that prompt belongs to it, and
 * what the agent says just after the end is its answer: who tells of a turn and who writes the transcript do not wait
 * for each other.
 */
const NEAR_MS = 5_000;

function withTurns(merged: readonly { readonly part: StoryPart; readonly place: number }[]): readonly StoryEntry[] {
  const entries: StoryEntry[] = [];
  let turn: number | null = null;
  let begun = 0;
  let ended: { readonly turn: number | null; readonly place: number } = { turn: null, place: -NEAR_MS };
  /** What was said outside of a turn, from what was said to the agent on. */
  let early: { readonly index: number; readonly place: number }[] = [];
  const asked = new Map<string, number>();
  for (const [index, { part, place }] of merged.entries()) {
    const { mono: _, ...entry } = part;
    if (entry.type === "turn-started") {
      turn = entry.turn;
      begun = place;
      for (const one of early) {
        const said = entries[one.index];
        if (said !== undefined && place - one.place <= NEAR_MS) entries[one.index] = { ...said, turn };
      }
      early = [];
    }
    const isEnd = /^turn-(?:completed|failed|interrupted)$/.test(entry.type);
    const ms =
      isEnd && turn === entry.turn && begun > 0 ? place - begun : (entry.ms ?? answeredAfter(entry, place, asked));
    const took = isEnd && ms !== null ? ` after ${inSeconds(ms)}` : "";
    entries.push({
      ...entry,
      ms,
      what: `${entry.what}${took}`,
      turn: entry.turn ?? turn ?? answerOf(entry, place, ended),
    });
    if (isEnd) {
      ended = { turn: entry.turn, place };
      turn = null;
    }
    if (turn === null && entry.source === "transcript" && (entry.actor === "user" || early.length > 0))
      early.push({ index, place });
  }
  return entries;
}

/** The turn that it was the answer of. */
function answerOf(
  { source, actor }: Pick<StoryPart, "source" | "actor">,
  place: number,
  ended: { readonly turn: number | null; readonly place: number },
): number | null {
  return source === "transcript" && actor === "agent" && place - ended.place < NEAR_MS ? ended.turn : null;
}

/** How long a question waited. */
function answeredAfter(entry: Omit<StoryPart, "mono">, place: number, asked: Map<string, number>): number | null {
  const { approval, approval_id: id } = entry.data;
  if (entry.type === "approval-requested" && typeof approval === "object" && approval !== null && "id" in approval)
    asked.set(String(approval.id), place);
  if (entry.type !== "approval-settled") return null;
  const since = asked.get(String(id));
  return since === undefined ? null : place - since;
}
