import { describe, expect, it } from "vitest";
import { asking, boardOf, dead, finished, NOW, session, working } from "./board-fixture.ts";
import { settled } from "./model.ts";
import type { Board } from "./model.ts";
import { press } from "./press.ts";
import { seenBy, untilSeen } from "./seen.ts";

const preview = (name: string): Board["preview"] => ({ session: name, source: "screen", text: "$", note: "" });
const opened = settled(boardOf([finished("done"), session("lazy")]), NOW);
const down = { type: "down" } as const;

describe("a finished session", () => {
  it("is seen after a moment with its preview, by somebody who moved to it", () => {
    const start = settled(boardOf([asking("asks"), finished("done")]), NOW);
    const moved = press(start, down, NOW).board;
    expect(untilSeen(moved, NOW + 9_000)).toBe(Infinity);
    const shown = settled({ ...moved, preview: preview("done") }, NOW + 100);
    expect([seenBy(shown, NOW + 1_500), untilSeen(shown, NOW + 1_500)]).toEqual([null, 100]);
    expect(seenBy(shown, NOW + 1_600)).toEqual({ session: "done", revision: 1 });
    expect(seenBy(press(shown, { type: "up" }, NOW + 200).board, NOW + 9_000)).toBeNull();
  });

  it("is not seen by a board that nobody sits at, until a key is pressed", () => {
    const shown = settled({ ...opened, preview: preview("done") }, NOW);
    expect([seenBy(shown, NOW + 60_000), untilSeen(shown, NOW)]).toEqual([null, Infinity]);
    expect(seenBy({ ...shown, keyAt: NOW + 60_000 }, NOW + 60_000)).toEqual({ session: "done", revision: 1 });
  });

  it("is other news when it ends again, and the key from before does not count", () => {
    const shown = settled({ ...press(opened, { type: "up" }, NOW).board, preview: preview("done") }, NOW);
    const again = { ...finished("done"), need_since: new Date(NOW + 5_000).toISOString(), revision: 7 };
    const next = settled({ ...shown, sessions: new Map([["done", again]]) }, NOW + 5_000);
    expect(seenBy(next, NOW + 60_000)).toBeNull();
    expect(seenBy({ ...next, keyAt: NOW + 60_000 }, NOW + 60_000)).toEqual({ session: "done", revision: 7 });
  });

  it.each([
    ["its preview is another's", { preview: preview("lazy") }],
    ["help is in front of it", { mode: { type: "help" } }],
    ["the daemon is away", { link: "lost" }],
  ] as const)("is not seen while %s", (_what, fields) => {
    const hidden = settled({ ...opened, preview: preview("done"), keyAt: NOW, ...fields }, NOW);
    expect(seenBy(hidden, NOW + 60_000)).toBeNull();
  });
});

it.each([
  ["failed", dead("x"), true],
  ["asking", { ...asking("x"), unseen: true }, false],
  ["working", working("x"), false],
  ["seen", { ...dead("x"), unseen: false }, false],
])("a session that is %s", (_what, shown, isNews) => {
  const board = settled({ ...boardOf([shown], { preview: preview("x") }), keyAt: NOW }, NOW);
  expect(seenBy(board, NOW + 60_000) !== null).toBe(isNews);
});
