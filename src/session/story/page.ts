/** A part of a story: what somebody wants to see of it, at most so much, and where to go on. */
import { QUIET_KINDS, STORY_SOURCES, type StoryEntry, type StoryKind, type StorySource } from "./entry.ts";

export interface StoryWish {
  /** All but the quiet ones where it is left out. */
  readonly only?: readonly StoryKind[] | undefined;
  readonly turn?: number | undefined;
  /** Only what failed. */
  readonly errors?: boolean | undefined;
  /** ISO 8601: only what happened from then on. */
  readonly from?: string | undefined;
  readonly last?: number | undefined;
}

/**
 * What was seen of each source: `<log>.<transcript>.<api>`. A story keeps the
 * order of each source, so what comes into it later, wherever its place is, is
 * after the cursor.
 */
export type StoryCursor = Readonly<Record<StorySource, number>>;

const START: StoryCursor = { log: 0, transcript: 0, api: 0 };

/** Null: it is none. */
export function parseCursor(text: string): StoryCursor | null {
  const match = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(text);
  return match === null ? null : { log: Number(match[1]), transcript: Number(match[2]), api: Number(match[3]) };
}

export interface StoryPage {
  readonly entries: readonly StoryEntry[];
  readonly cursor: string;
  /** There is more after the cursor that fits the wish. */
  readonly hasMore: boolean;
}

export function pageOf(
  story: readonly StoryEntry[],
  wish: StoryWish,
  {
    since = START,
    limit,
    mostBytes,
  }: { readonly since?: StoryCursor; readonly limit: number; readonly mostBytes: number },
): StoryPage {
  const seen: Record<StorySource, number> = { ...since };
  const isWanted = wantedBy(wish);
  const after = story.filter((entry) => entry.seq > since[entry.source]);
  const wanted = after.filter(isWanted);
  const from = wish.last === undefined ? undefined : wanted[Math.max(0, wanted.length - wish.last)];
  let isBegun = from === undefined;
  const entries: StoryEntry[] = [];
  let bytes = 0;
  let hasMore = false;
  for (const entry of after) {
    isBegun ||= entry === from;
    if (isBegun && isWanted(entry)) {
      bytes += sizeOf(entry);
      if (entries.length >= limit || (bytes > mostBytes && entries.length > 0)) {
        hasMore = true;
        break;
      }
      entries.push(entry);
    }
    seen[entry.source] = entry.seq;
  }
  return { entries, cursor: STORY_SOURCES.map((source) => seen[source]).join("."), hasMore };
}

function wantedBy({ only, turn, errors, from }: StoryWish): (entry: StoryEntry) => boolean {
  const kinds = only === undefined ? null : new Set(only);
  const since = from === undefined ? null : Date.parse(from);
  return (entry) =>
    (kinds === null ? !QUIET_KINDS.has(entry.kind) : kinds.has(entry.kind)) &&
    (turn === undefined || entry.turn === turn) &&
    (errors !== true || entry.failed) &&
    (since === null || Date.parse(entry.at) >= since);
}

function sizeOf(entry: StoryEntry): number {
  return JSON.stringify(entry).length;
}
