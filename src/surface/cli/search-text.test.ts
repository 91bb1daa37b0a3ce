import { expect, test } from "vitest";
import type { OutputOf } from "../../client/operation-types.ts";
import { withoutPaint } from "./paint.ts";
import { searchText } from "./search-text.ts";

type Found = OutputOf<"search">["found"][number];

const NOW = Date.parse("2026-11-17T12:00:00Z");
const SENTENCE = "the connection to the database was refused because nobody had started it before the tests ran at all";
const found: Found = {
  kind: "message",
  session_id: "s-1",
  session: "builder",
  agent: "practice",
  role: "worker",
  at: "2026-11-17T11:58:00.000Z",
  who: "assistant",
  ref: null,
  turn: null,
  excerpt: SENTENCE,
  hits: [{ start: 4, end: 14 }],
} as unknown as Found;

test("on a terminal an excerpt is broken between words, painted or not", async () => {
  for (const hasColour of [false, true]) {
    const text = await searchText([found], { hasColour, isTerminal: true, width: 40 }, NOW);
    const lines = withoutPaint(text).trimEnd().split("\n");
    expect(lines[0]).toBe("builder  assistant, 2 min ago");
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(40);
    expect(lines.slice(1).every((line) => line.startsWith("    "))).toBe(true);
    expect(
      lines
        .slice(1)
        .map((line) => line.trim())
        .join(" "),
    ).toBe(SENTENCE);
    expect(text.includes("\u001B")).toBe(hasColour);
  }
});

test("elsewhere it is one line, as it was said", async () => {
  const text = await searchText([found], { hasColour: false, isTerminal: false, width: null }, NOW);
  expect(text).toBe(`builder  assistant, 2 min ago\n    ${SENTENCE}\n`);
});
