import { describe, expect, it } from "vitest";
import type { SessionView } from "../../client/operation-types.ts";
import { summaryOf } from "../../session/need-order.ts";
import { sessionTable } from "../cli/session-text.ts";
import { ago, asking, boardOf, dead, finished, NOW, PLAIN, session, textOfFrame, working } from "./board-fixture.ts";
import { allRows } from "./model.ts";
import { render } from "./render.ts";
import { rowOf } from "./row.ts";

const all = [
  session("idle"),
  session("paused", { need: "paused" }),
  session("lost", { need: "unreachable", liveness: "unreachable" }),
  working("works"),
  finished("done"),
  dead("died"),
  asking("asks"),
  asking("stuck", 400),
  session("another-idle"),
];

const order = (sessions: readonly SessionView[]): readonly string[] =>
  allRows({ foreign: [], sessions: new Map(sessions.map((one) => [one.session_id, one])) }).map(({ name }) => name);

describe("the board and list", () => {
  it("have one order", async () => {
    const table = await sessionTable(all, { width: 200, hasColour: false }, NOW);
    const listed = table
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(" ")[0]);
    expect(order(all)).toEqual(listed);
    expect(listed).toEqual(["stuck", "asks", "died", "done", "lost", "works", "idle", "another-idle", "paused"]);
  });

  it("have one summary", () => {
    const [header = ""] = textOfFrame(render(boardOf(all), { columns: 120, rows: 20 }, PLAIN, NOW));
    expect(header).toContain(`Reeve  ${summaryOf(all)}   `);
  });
});

describe("a row", () => {
  it.each([
    [asking("x", 30), { word: "needs you", line: "Run x.sh?", since: NOW - 30_000 }],
    [{ ...asking("x"), approvals: 3 }, { line: "Run x.sh? (and 2 more)" }],
    [working("x"), { word: "working", line: "" }],
    [
      session("x", { held: { reason: "the review", until: "2026-11-16T12:00:00.000Z", by: "operator" } }),
      { word: "idle", line: "Held: the review" },
    ],
    [finished("x"), { word: "finished", line: "All 12 tests pass." }],
    [dead("x"), { word: "failed", line: "Its process exited with status 70.", since: NOW - 90_000 }],
    [session("x", { need_since: ago(60) }), { word: "idle", line: "", since: NOW - 60_000 }],
    [session("x", { headline: "\u001B[2J\u202Eevil\nmore" }), { line: "<U+202E>evil more" }],
  ])("says what matters (%#)", (shown, row) => {
    expect(rowOf(shown)).toMatchObject(row);
  });
});
