import { describe, expect, it } from "vitest";
import { observePane, parsePanes } from "./pane.ts";

describe("parsePanes", () => {
  const ours = "pane %3 $1 @2 4000000 3  0 1 /dev/pts/4 i.one.2 one";
  const linked = "pane %3 $0 @2 4000000 3  0 1 /dev/pts/4 i.one.2 reeve-anchor";
  const wanted = {
    id: "%3",
    target: "$1:@2.%3",
    mark: "i.one.2",
    owner: { sessionId: "one", incarnation: 2 },
    isLinked: true,
    isOrphan: false,
  };

  it.each([[[ours, linked]], [[linked, ours]]])("counts a linked window once, under its own session", (lines) => {
    expect(parsePanes(lines, "i")).toMatchObject([wanted]);
    expect(parsePanes(lines, "i")).toHaveLength(1);
  });

  it("knows a pane that only the anchor holds", () => {
    expect(parsePanes([linked], "i")).toMatchObject([{ isOrphan: true }]);
  });

  it("ignores other homes, look-alikes and anything unknown", () => {
    const lines = [
      "pane %4 $2 @3 4000001   0 0 /dev/pts/5 j.one.2 one",
      "pane %5 $3 @4 4000002   0 0 /dev/pts/6  one",
      "forged",
      "",
    ];
    expect(parsePanes(lines, "i")).toEqual([]);
  });

  it.each([
    ["0 ", { code: 0, signal: null }],
    ["143 ", { code: 143, signal: "SIGTERM" }],
    [" 9", { code: null, signal: "SIGKILL" }],
    [" KILL", { code: null, signal: "SIGKILL" }],
  ])("reads how it ended from '%s'", (fields, outcome) => {
    const [pane] = parsePanes([`pane %3 $1 @2 4000000 ${fields} 0 0 /dev/pts/4 i.one.2 one`], "i");
    expect(pane && observePane(pane)).toMatchObject({ status: "exited", ...outcome });
  });

  it("concludes nothing yet from a process that is gone before tmux knows how", () => {
    const [pane] = parsePanes(["pane %3 $1 @2 4194305   0 0 /dev/pts/4 i.one.2 one"], "i");
    expect(pane && observePane(pane)).toBe(null);
  });
});
