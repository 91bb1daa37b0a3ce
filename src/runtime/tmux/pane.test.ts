import { describe, expect, it } from "vitest";
import { readProcess } from "../../platform/process-table.ts";
import { type ListedPane, parsePanes } from "../driver/pane.ts";
import { observePane } from "./pane-sight.ts";
import { createPaneProofs } from "./pane-proof.ts";

describe("parsePanes", () => {
  const ours = "pane %3 $1 @2 4000000 3  0 1 /dev/pts/4 i.one.2 0";
  const linked = "pane %3 $0 @2 4000000 3  0 1 /dev/pts/4 i.one.2 1";
  const wanted = { id: "%3", claim: "i.one.2", isLinked: true, isOrphan: false };

  it.each([[[ours, linked]], [[linked, ours]]])("counts a linked window once, under its own session", (lines) => {
    expect(parsePanes(lines)).toMatchObject([wanted]);
    expect(parsePanes(lines)).toHaveLength(1);
  });

  it("knows a pane that only the anchor holds", () => {
    expect(parsePanes([linked])).toMatchObject([{ isOrphan: true }]);
  });

  it("ignores anything unknown", () => {
    expect(parsePanes(["forged", "pane %4 $2", ""])).toEqual([]);
  });

  it.each([
    ["0 ", { code: 0, signal: null }],
    ["143 ", { code: 143, signal: "SIGTERM" }],
    [" 9", { code: null, signal: "SIGKILL" }],
    [" KILL", { code: null, signal: "SIGKILL" }],
  ])("reads how it ended from '%s'", (fields, outcome) => {
    const [pane] = parsePanes([`pane %3 $1 @2 4000000 ${fields} 0 0 /dev/pts/4 i.one.2 0`]);
    expect(pane && observePane(pane)).toMatchObject({ status: "exited", ...outcome });
  });

  it("concludes nothing yet from a process that is gone before tmux knows how", () => {
    const [pane] = parsePanes(["pane %3 $1 @2 4194305   0 0 /dev/pts/4 i.one.2 0"]);
    expect(pane && observePane(pane)).toBe(null);
  });
});

describe("a dead pane is ours", () => {
  const dead = (claim: string): ListedPane => {
    const [pane] = parsePanes([`pane %3 $1 @2 4000000 3  0 0 /dev/pts/4 ${claim} 0`]);
    if (pane === undefined) throw new Error("no pane");
    return pane;
  };
  const ours = {
    pane: { mark: "i.one.2", owner: { sessionId: "one", incarnation: 2 } },
    presence: { status: "exited", code: 3 },
  };

  it("if tmux says that it started it with our wrapper and that mark, which is asked once", () => {
    const proofs = createPaneProofs("i");
    const pane = dead("i.one.2");
    expect(proofs.judge(pane, process.pid)).toBe("unproven");
    proofs.noteDead(pane, true);
    expect(proofs.judge(pane, process.pid)).toMatchObject(ours);
  });

  it("not if tmux says otherwise, until another mark is claimed", () => {
    const proofs = createPaneProofs("i");
    proofs.noteDead(dead("i.one.2"), false);
    expect(proofs.judge(dead("i.one.2"), process.pid)).toBe("not-ours");
    expect(proofs.judge(dead("i.one.3"), process.pid)).toBe("unproven");
  });

  it("if the record names this very pane and process", () => {
    const proofs = createPaneProofs("i", () => ({ id: "%3", pid: 4_000_000, startTicks: "17" }));
    expect(proofs.judge(dead("i.one.2"), process.pid)).toMatchObject(ours);
  });

  it.each([
    ["it is another home's", "j.one.2"],
    ["the mark is none", "i.one.two"],
  ])("not if %s", (_, claim) => {
    expect(createPaneProofs("i").judge(dead(claim), process.pid)).toBe("not-ours");
  });

  it("if it was proven while it lived, whatever its option says now", () => {
    const proofs = createPaneProofs("i");
    proofs.note("%3", 4_000_000, "17", "i.one.2");
    const [pane] = parsePanes(["pane %3 $1 @2 4000000 3  0 0 /dev/pts/4 i.two.1 0"]);
    expect(pane && proofs.judge(pane, process.pid)).toMatchObject({ pane: { mark: "i.one.2" } });
    proofs.keepOnly([]);
    expect(pane && proofs.judge(pane, process.pid)).toBe("unproven");
  });
});

describe("a living pane without our mark in its process", () => {
  const judged = (recorded: object): unknown => {
    const startTicks = readProcess(process.pid)?.startTicks;
    const place = { id: "%3", pid: process.pid, startTicks: String(startTicks), ...recorded };
    const proofs = createPaneProofs("i", ({ sessionId, incarnation }) =>
      sessionId === "one" && incarnation === 2 ? place : null,
    );
    const [pane] = parsePanes([`pane %3 $1 @2 ${process.pid}   0 0 /dev/pts/4 i.one.2 0`]);
    return pane && proofs.judge(pane, 1);
  };

  it("is ours if the record names this very process and pane", () => {
    expect(judged({})).toMatchObject({ pane: { mark: "i.one.2" }, presence: { status: "running" } });
  });

  it.each([
    ["an earlier process with that id", { startTicks: "17" }],
    ["another process", { pid: 1 }],
    ["another pane", { id: "%4" }],
  ])("is not ours if the record names %s", (_, recorded) => {
    expect(judged(recorded)).toBe("not-ours");
  });
});
