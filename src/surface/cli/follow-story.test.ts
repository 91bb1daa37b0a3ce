import { expect, test } from "vitest";
import { type StoryPage, withoutUnfinished } from "./follow-story.ts";

const NOW = Date.parse("2026-11-17T12:00:00.000Z");

type Entry = StoryPage["entries"][number];

function entry(source: Entry["source"], seq: number, outcome: string | null, secondsAgo = 1): Entry {
  return {
    source,
    seq,
    at: new Date(NOW - secondsAgo * 1_000).toISOString(),
    kind: source === "api" ? "api" : "turns",
    type: source === "api" ? "model-call" : "turn-started",
    turn: 1,
    actor: "agent",
    what: "",
    text: null,
    failed: false,
    ms: null,
    data: source === "api" ? { outcome } : {},
  };
}

const page = (cursor: string, ...entries: Entry[]): StoryPage => ({
  session: null,
  imported: null,
  entries,
  cursor,
  more: false,
  gaps: [],
});
const shown = ({ entries, cursor }: StoryPage) => [entries.map(({ source, seq }) => `${source} ${seq}`), cursor];

test("a call to the model waits for its end, with those after it, and nothing else does", () => {
  const given = page(
    "9.4.30",
    entry("api", 5, "complete"),
    entry("api", 12, null),
    entry("log", 9, null),
    entry("api", 30, "complete"),
  );
  expect(shown(withoutUnfinished(given, "1.1.1", NOW))).toEqual([["api 5", "log 9"], "9.4.11"]);
  // The cursor never goes back.
  expect(shown(withoutUnfinished(page("9.4.30", entry("api", 12, null)), "9.4.11", NOW))).toEqual([[], "9.4.11"]);
});

test("one that takes longer than a minute, or whose end will never come, is shown as it is", () => {
  const given = page("9.4.30", entry("api", 12, null, 61), entry("api", 30, "complete"));
  expect(withoutUnfinished(given, "1.1.1", NOW)).toBe(given);
});
