import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unicodeRuler } from "../cli/unicode-ruler.ts";
import { approvalOf, asking, boardOf, dead, NOW, PLAIN, session, textOfFrame, working } from "./board-fixture.ts";
import { widthOf } from "./line.ts";
import { settled } from "./model.ts";
import type { Board } from "./model.ts";
import { nextChange, render } from "./render.ts";

const SMALL = { columns: 60, rows: 20 };
const text = (board: Board, size = SMALL): readonly string[] => textOfFrame(render(board, size, PLAIN, NOW));

const some = boardOf([asking("asker"), dead("dead"), working("busy"), session("lazy", { headline: "All done." })], {
  approvals: [approvalOf("asker", { subject: "rm -r build\nmake", reason: "the build is old" })],
  preview: { session: "asker", source: "screen", text: "$ make\n\u001B[31mfailed\u001B[0m", note: "From its screen" },
});

describe("a frame", () => {
  it("shows summary, rows by need, the question and the screen", () => {
    expect(text(some)).toEqual([
      "Reeve  1 needs you · 1 failed · 1 working · 1 idle    1 of 4",
      "> asker needs you 30s  Run asker.sh?",
      "  dead  failed     1m  Its process exited with status 70.",
      "  busy  working   30s",
      "  lazy  idle      30s  All done.",
      "─".repeat(60),
      "asker  practice · /",
      "Asks: Run asker.sh?",
      "  rm -r build",
      "  make",
      "Reason: the build is old",
      "a approves · d denies",
      "Screen:",
      "$ make",
      "failed",
      ...Array.from({ length: 4 }, () => ""),
      "Tab next  Enter attach  a approve  d deny  ? help  q quit",
    ]);
  });

  it("says where a dialog of the agent itself is answered, and offers no key that would not do it", () => {
    const dialog = approvalOf("asker", { title: "Trust this folder?", answerable: false });
    const lines = text(boardOf([asking("asker")], { approvals: [dialog] }));
    expect(lines.slice(4, 6)).toEqual(["Asks: Trust this folder?", "Enter attaches, to answer it there"]);
    expect(lines.at(-1)).not.toContain("approve");
  });

  it("offers only keys that do something for what is selected", () => {
    expect(text(boardOf([dead("dead")]), { columns: 100, rows: 20 }).at(-1)).toBe(
      "Tab next  n new  p start again  x end  / search  Space pick  f filter  v view  ? help  q quit",
    );
    expect(text(boardOf([]), { columns: 100, rows: 20 }).at(-1)).toBe(
      "Tab next  n new  / search  f filter  v view  ? help  q quit",
    );
  });

  it("shows what is picked without colour, and the keys that act on it, and asks how many", () => {
    const board = { ...some, picked: new Set(["asker", "busy"]) };
    const lines = text(board, { columns: 100, rows: 20 });
    expect(lines.slice(1, 5).map((line) => line.slice(0, 7))).toEqual([">*asker", "  dead ", " *busy ", "  lazy "]);
    expect(lines.at(-1)).toBe("2 picked:  r reply  p pause  x end  i interrupt  Space pick  Esc clear  ? help  q quit");
    const asked = (does: "end" | "pause" | "interrupt", sessions: readonly string[], fields: Partial<Board> = {}) =>
      text({ ...board, ...fields, mode: { type: "confirm", does, sessions } }, { columns: 100, rows: 20 }).at(-2);
    expect(asked("end", ["asker", "busy"])).toBe(
      "End 2 picked sessions? y: after their turns, !: now, any other key: no.",
    );
    expect(asked("pause", ["busy"])).toBe("Pause busy? y: yes, any other key: no.");
    expect(asked("interrupt", ["asker", "busy"], { picked: new Set(["asker", "busy", "dead"]) })).toBe(
      "Interrupt the turn under way in 2 of 3 picked sessions? y: yes, any other key: no.",
    );
    expect(asked("pause", ["asker", "busy"], { search: "busy" })).toBe(
      "Pause 2 picked sessions (1 not listed now)? y: yes, any other key: no.",
    );
  });

  it("offers to interrupt only where a turn is under way, also in help", () => {
    const bar = (board: Board) => text(board, { columns: 120, rows: 24 }).at(-1);
    expect(bar(boardOf([working("busy")]))).toContain("i interrupt");
    expect(bar(boardOf([session("lazy")]))).not.toContain("interrupt");
    const help = (board: Board) => text({ ...board, mode: { type: "help" } }).join("\n");
    expect(help(boardOf([working("busy")]))).toContain("interrupt the turn");
    expect(help(boardOf([session("lazy")]))).not.toContain("interrupt");
    expect(help(some)).toMatch(/q +leave the board/);
  });

  it("tells all of what went wrong, over the end of the preview", () => {
    const names = Array.from({ length: 12 }, (_, index) => `session-${index}`).join(", ");
    const lines = text({ ...some, notice: { text: `Failed for ${names}: no.`, isBad: true } });
    expect(lines).toHaveLength(20);
    expect(lines.slice(-4, -1).join(" ")).toBe(`Failed for ${names}: no.`);
  });

  it("puts the preview beside the list where there is room", () => {
    const [, first = "", second = ""] = text(some, { columns: 140, rows: 20 });
    expect(first.indexOf(" │ asker  practice")).toBe(70);
    expect(first).toMatch(/^> asker practice needs you 30s {2}Run asker\.sh\?/);
    expect(second).toContain(" │ Asks: Run asker.sh?");
  });

  it("shows three lines that start a session where there is none", () => {
    const lines = text(boardOf([])).filter((line) => line.includes("reeve start"));
    expect(lines).toHaveLength(3);
    expect(text(boardOf([]))).toContainEqual(expect.stringContaining("Press n to start one here"));
  });

  it("lists what Reeve did not start below the sessions, with how to bring it under care", () => {
    const foreign = {
      agent: "codex",
      held_by: "process",
      pid: 7,
      native_id: null,
      cwd: "/p",
      activity: "unknown",
      asks: null,
      evidence: "process 7",
      advice: "End it first.",
    } as const;
    const board = settled({ ...boardOf([session("lazy")], { foreign: [foreign] }), selected: "foreign codex 7 " }, NOW);
    expect(text(board).slice(0, 8)).toEqual([
      "Reeve  1 idle                                         2 of 2",
      "  lazy      idle 30s",
      "Not started by Reeve:",
      "> (codex 7) runs      /p",
      "─".repeat(60),
      "codex  /p",
      "Not started by Reeve, which only looks at it (process 7).",
      "End it first.",
    ]);
    expect(text(boardOf([], { foreign: [foreign] })).filter((line) => line.includes("reeve start"))).toHaveLength(3);
  });

  it("says that it is cut off, and goes on showing what is known", () => {
    expect(text({ ...some, link: "lost" })[0]).toBe(
      "Reeve  reconnecting…  1 needs you · 1 failed · 1 working · 1 idle".slice(0, 59) + "…",
    );
  });

  it("says what is left out even where the counts have no room beside it", () => {
    const [first = ""] = text(settled({ ...some, filter: "working", search: "a long search" }, NOW));
    expect(first).toMatch(/^Reeve {2}1 needs you · 1 fail.*… only working {2}\/a long search$/);
    expect(first).toHaveLength(60);
  });

  it("keeps the selected one in sight among 200", () => {
    const many = boardOf(Array.from({ length: 200 }, (_, index) => session(`s${String(index).padStart(3, "0")}`)));
    const lines = text({ ...many, selected: "s150", selectedAt: 150 });
    expect(lines.slice(1, 8).map((line) => line.slice(2, 6))).toEqual([
      "s147",
      "s148",
      "s149",
      "s150",
      "s151",
      "s152",
      "s153",
    ]);
    expect(lines[0]).toMatch(/151 of 200$/);
  });

  it("shows where one types, with the cursor there", () => {
    const line = { before: "hello", after: " world" };
    const { lines, cursor } = render(
      { ...some, mode: { type: "reply", sessions: ["asker"], line } },
      SMALL,
      PLAIN,
      NOW,
    );
    expect(textOfFrame({ lines, cursor })[18]).toBe("Reply to asker: hello world");
    expect(cursor).toEqual({ row: 18, column: 21 });
  });

  it("fits any terminal, whatever sessions are called and say", () => {
    const word = fc.oneof(
      fc.string({ unit: "grapheme", maxLength: 80 }),
      fc.constantFrom("漢字漢字漢字", "👩‍👩‍👧", "a\tb\nc"),
    );
    const size = fc.record({ columns: fc.integer({ min: 1, max: 220 }), rows: fc.integer({ min: 1, max: 60 }) });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 6 }), size, (words, terminal) => {
        const sessions = words.map((name, index) => ({ ...asking(name), session_id: `s${index}`, headline: name }));
        const board = boardOf(sessions, {
          preview: { session: "s0", source: "transcript", text: words.join("\n"), note: "" },
        });
        const { lines } = render(board, terminal, { hasColour: true, ruler: unicodeRuler }, NOW);
        expect(lines.length).toBeLessThanOrEqual(terminal.rows);
        for (const line of lines) expect(widthOf(line, unicodeRuler)).toBeLessThanOrEqual(terminal.columns);
      }),
      { numRuns: 150 },
    );
  });
});

describe("nextChange", () => {
  it("is when a time that can be seen changes", () => {
    expect(nextChange(boardOf([working("x")]), SMALL, NOW)).toBe(1_000);
    expect(nextChange(boardOf([dead("x")]), SMALL, NOW)).toBe(30_000);
    expect(nextChange(boardOf([]), SMALL, NOW)).toBe(Infinity);
  });
});

describe("the preview of a screen", () => {
  const screenOf = (lines: readonly string[], size = SMALL): readonly string[] => {
    const preview = { session: "lazy", source: "screen", text: lines.join("\n"), note: "From its screen" } as const;
    return text(boardOf([session("lazy")], { preview }), size).slice(5, -2);
  };

  it("loses gaps before words where it is too high", () => {
    const lines = ["› hello", "", "", "● All 12 tests pass.", ...Array.from({ length: 20 }, () => ""), "❯"];
    expect(screenOf(lines).slice(0, 6)).toEqual(["› hello", "", "● All 12 tests pass.", "", "❯", ""]);
    expect(screenOf(lines, { columns: 60, rows: 40 }).slice(0, 4)).toEqual(lines.slice(0, 4));
  });

  it("says that it is cut only where words are", () => {
    const far = `${" ".repeat(90)}gemini-pro`;
    expect(screenOf(["─".repeat(90), far, `? for shortcuts${far}`, "word ".repeat(20)]).slice(0, 4)).toEqual([
      "─".repeat(60),
      "",
      "? for shortcuts",
      `${"word ".repeat(12).slice(0, 59)}…`,
    ]);
  });

  it("is the last one of a process that is gone", () => {
    const preview = { session: "dead", source: "screen", text: "bye", note: "From its screen" } as const;
    expect(text(boardOf([dead("dead")], { preview }))).toContain("Last screen:");
  });
});
