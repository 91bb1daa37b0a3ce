import { describe, expect, it } from "vitest";
import { approvalOf, asking, boardOf, dead, NOW, session, working } from "./board-fixture.ts";
import { inputLine } from "./input-line.ts";
import { createKeyDecoder } from "./key.ts";
import { settled } from "./model.ts";
import type { Board } from "./model.ts";
import { press } from "./press.ts";
import type { Pressed } from "./press.ts";

/** What a terminal sends, one key after the other; what is asked for last is given back. */
function type(board: Board, input: string, now = NOW): Pressed {
  const decoder = createKeyDecoder();
  let pressed: Pressed = { board, wish: null };
  for (const key of [...decoder.push(input), ...decoder.flush()]) pressed = press(pressed.board, key, now);
  return pressed;
}

const four = boardOf([asking("asker"), dead("dead"), working("busy"), session("lazy")]);

describe("moving", () => {
  it("goes down and up, and stays on the session when the order changes", () => {
    expect(type(four, "jj").board.selected).toBe("busy");
    expect(type(four, "jj\u001B[A").board.selected).toBe("dead");
    expect(type(four, "jjjjjjjj").board.selected).toBe("lazy");
    const chosen = type(four, "\u001B[B\u001B[B").board;
    const asks = settled({ ...chosen, sessions: new Map([...chosen.sessions, ["busy", asking("busy", 900)]]) }, NOW);
    expect(asks).toMatchObject({ selected: "busy", selectedAt: 0 });
  });

  it("goes on with a neighbour when the session is gone", () => {
    const chosen = type(four, "jj").board;
    const gone = new Map([...chosen.sessions].filter(([id]) => id !== "busy"));
    expect(settled({ ...chosen, sessions: gone }, NOW).selected).toBe("lazy");
    expect(settled({ ...chosen, sessions: new Map() }, NOW).selected).toBeNull();
  });

  it("finds the next that needs somebody, around the end", () => {
    expect(type(four, "k\t").board.selected).toBe("dead");
    expect(type(four, "k\t\t").board.selected).toBe("asker");
    expect(type(boardOf([session("lazy")]), "\t").board.notice?.text).toBe("Nobody needs you.");
  });
});

it("Tab as the first key stays with the session that asks: nobody has chosen it yet", () => {
  expect(type(four, "\t").board.selected).toBe("asker");
  expect(type(four, "\t\t").board.selected).toBe("dead");
});

describe("answering", () => {
  it("approves and denies the very question that is shown", () => {
    const answer = { type: "answer", session: "asker", approval: "asker-1" };
    expect(type(four, "a").wish).toEqual({ ...answer, decision: "approved" });
    expect(type(four, "d").wish).toEqual({ ...answer, decision: "denied" });
  });

  it("does not answer a question that nobody can have read", () => {
    const next = settled({ ...four, approvals: [approvalOf("asker", { approval_id: "other" })] }, NOW);
    expect(type(next, "a", NOW + 100)).toMatchObject({
      wish: null,
      board: { notice: { text: expect.stringContaining("just changed") as string } },
    });
    expect(type(next, "a", NOW + 1_000).wish).toMatchObject({ approval: "other" });
  });

  it("leaves a dialog of the agent itself to whoever attaches", () => {
    const dialog = approvalOf("asker", { approval_id: "dialog", title: "Trust this folder?", answerable: false });
    const board = boardOf([asking("asker")], { approvals: [dialog] });
    const refused = {
      wish: null,
      board: { notice: { text: "It is answered in the session: press Enter to attach." } },
    };
    expect(type(board, "a")).toMatchObject(refused);
    expect(type(board, "d")).toMatchObject(refused);
    expect(type(board, "\r").wish).toEqual({ type: "attach", session: "asker" });
  });

  it("asks nothing of who asks nothing", () => {
    expect(type(four, "ja")).toMatchObject({ wish: null, board: { notice: { text: "dead asks for no approval." } } });
  });

  it("replies with a line that was edited, and not with a line end that was pasted", () => {
    const typed = type(four, "rhelo\u007f\u007fllo wrld\u001B[D\u001B[D\u001B[Do\r");
    expect(typed.wish).toEqual({ type: "reply", session: "asker", text: "hello world" });
    const pasted = type(four, "r\u001B[200~one\r\ntwo\u001B[201~");
    expect(pasted).toMatchObject({ wish: null, board: { mode: { type: "reply", line: { before: "one two" } } } });
    expect(type(four, "rsome\u001B").board.mode).toEqual({ type: "list" });
    expect(type(four, "r\r").wish).toBeNull();
  });
});

describe("other keys", () => {
  it("ends only what was confirmed", () => {
    expect(type(four, "x")).toMatchObject({
      wish: null,
      board: { mode: { type: "confirm", does: "end", sessions: ["asker"] } },
    });
    expect(type(four, "xy").wish).toEqual({ type: "end", session: "asker", when: "after-turn" });
    expect(type(four, "x!").wish).toEqual({ type: "end", session: "asker", when: "now" });
    expect(type(four, "xn")).toMatchObject({ wish: null, board: { mode: { type: "list" } } });
    expect(type(four, "x\r").wish).toBeNull();
  });

  it("starts a session with the agent that was used last, or another", () => {
    expect(type(four, "nfix it\r").wish).toEqual({ type: "start", agent: "practice", prompt: "fix it" });
    expect(type(four, "n\u0015codex review this\r").wish).toEqual({
      type: "start",
      agent: "codex",
      prompt: "review this",
    });
  });

  it("shows what was not taken again when the same is asked for", () => {
    const refused = { type: "new", line: inputLine("claud fix it") } as const;
    expect(type({ ...four, refused }, "n").board.mode).toEqual(refused);
    const reply = { type: "reply", sessions: ["asker"], line: inputLine("yes") } as const;
    expect(type({ ...four, refused: reply }, "r").board.mode).toEqual(reply);
    expect(type({ ...four, refused: reply }, "jr").board.mode).toEqual({
      ...reply,
      sessions: ["dead"],
      line: inputLine(),
    });
  });

  it("starts a command as it is written in a shell", () => {
    const wish = { type: "start", agent: "command", prompt: "sh -c 'echo a; echo b'" };
    expect(type(four, "n\u0015command -- sh -c 'echo a; echo b'\r").wish).toEqual(wish);
    expect(type(four, "n\u0015command sh -c 'echo a; echo b'\r").wish).toEqual(wish);
  });

  it("pauses, resumes, starts the dead again; attaches, and not to the dead", () => {
    expect(type(four, "jp").wish).toEqual({ type: "restart", session: "dead" });
    expect(type(four, "p").wish).toEqual({ type: "pause", session: "asker" });
    expect(type(boardOf([session("x", { state: "paused" })]), "p").wish).toEqual({ type: "resume", session: "x" });
    expect(type(four, "\r").wish).toEqual({ type: "attach", session: "asker" });
    expect(type(four, "j\r")).toMatchObject({
      wish: null,
      board: { notice: { text: expect.stringContaining("no process") as string } },
    });
  });

  it("interrupts a turn only after y, and says so where none is under way", () => {
    expect(type(four, "i")).toMatchObject({
      wish: null,
      board: { mode: { type: "confirm", does: "interrupt", sessions: ["asker"] } },
    });
    expect(type(four, "iy").wish).toEqual({ type: "interrupt", session: "asker" });
    expect(type(four, "i!")).toMatchObject({ wish: null, board: { notice: { text: "Nothing was done." } } });
    for (const keys of ["ji", "Gi"])
      expect(type(four, keys)).toMatchObject({
        wish: null,
        board: {
          mode: { type: "list" },
          notice: { text: expect.stringMatching(/^(dead|lazy) has no turn/) as string },
        },
      });
  });

  it("searches while typing, filters, and Esc shows all again", () => {
    const found = type(four, "/laz").board;
    expect(found).toMatchObject({ search: "laz", selected: "lazy" });
    expect(type(found, "\r").board).toMatchObject({ search: "laz", mode: { type: "list" } });
    expect(type(type(found, "\r").board, "\u001B").board.search).toBe("");
    expect(type(four, "f").board).toMatchObject({ filter: "needs me", selected: "asker" });
    expect(type(four, "ff").board).toMatchObject({ filter: "working", selected: "busy" });
  });

  it("leaves with q and Ctrl-C, but not out of a line", () => {
    expect(type(four, "q").wish).toEqual({ type: "quit" });
    expect(type(four, "\u0003").wish).toEqual({ type: "quit" });
    expect(type(four, "rsome\u0003")).toMatchObject({ wish: null, board: { mode: { type: "list" } } });
    expect(type(four, "?q")).toMatchObject({ wish: null, board: { mode: { type: "list" } } });
  });

  it("says what to do where there is no session", () => {
    expect(type(boardOf([]), "p").board.notice?.text).toBe("There is no session here; press n to start one.");
    expect(type(boardOf([]), "jk\tGg\r").wish).toBeNull();
  });
});

describe("picking several", () => {
  const picked = (board: Board): readonly string[] => [...board.picked].toSorted();
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

  it("Space picks the selected one and lets it go, * all that are listed", () => {
    expect(picked(type(four, " j ").board)).toEqual(["asker", "dead"]);
    expect(picked(type(four, " j k ").board)).toEqual(["dead"]);
    expect(picked(type(four, "*").board)).toEqual(["asker", "busy", "dead", "lazy"]);
    expect(picked(type(four, "**").board)).toEqual([]);
    expect(picked(type(four, " *").board)).toHaveLength(4);
    const beside = settled({ ...four, foreign: [foreign] }, NOW);
    expect(picked(type(beside, "*").board)).toHaveLength(4);
    expect(type(beside, "G ").board).toMatchObject({
      picked: new Set(),
      notice: { text: expect.stringContaining("did not start") as string },
    });
  });

  it("takes all of a search to what was picked before; Esc shows all again, and then lets go of them", () => {
    const found = type(four, "G k/busy\r*").board;
    expect(picked(found)).toEqual(["busy", "lazy"]);
    expect(picked(type(found, "*").board)).toEqual(["lazy"]);
    const shown = type(found, "\u001B").board;
    expect([shown.search, picked(shown)]).toEqual(["", ["busy", "lazy"]]);
    expect(picked(type(shown, "\u001B").board)).toEqual([]);
  });

  it("keeps them when the order and what is known of them change, and forgets those that are gone", () => {
    const two = type(four, "jj j ").board;
    const asks = settled({ ...two, sessions: new Map([...two.sessions, ["lazy", asking("lazy", 900)]]) }, NOW);
    expect(picked(asks)).toEqual(["busy", "lazy"]);
    const gone = settled({ ...asks, sessions: new Map([...asks.sessions].filter(([id]) => id !== "busy")) }, NOW);
    expect(picked(gone)).toEqual(["lazy"]);
    expect(picked(settled({ ...gone, sessions: four.sessions }, NOW))).toEqual(["lazy"]);
  });

  it("acts on all of them after one question, wherever the selection is", () => {
    const two = type(four, " G k").board;
    expect(two.selected).toBe("busy");
    const asked = type(two, "x");
    expect(asked).toMatchObject({
      wish: null,
      board: { mode: { type: "confirm", does: "end", sessions: ["asker", "lazy"] } },
    });
    const end = (session: string, when: string) => ({ name: session, wish: { type: "end", session, when } });
    expect(type(asked.board, "y").wish).toEqual({
      type: "each",
      of: [end("asker", "after-turn"), end("lazy", "after-turn")],
    });
    expect(type(asked.board, "!").wish).toEqual({ type: "each", of: [end("asker", "now"), end("lazy", "now")] });
    expect(type(asked.board, "n")).toMatchObject({ wish: null, board: { notice: { text: "Nothing was done." } } });
    const left = settled({ ...asked.board, sessions: new Map([["lazy", session("lazy")]]) }, NOW);
    expect(type(left, "y").wish).toEqual({ type: "each", of: [end("lazy", "after-turn")] });
    expect(type(settled({ ...left, sessions: new Map() }, NOW), "y").wish).toBeNull();
  });

  it("pauses those that are not paused, then resumes, then starts again; one that is picked is asked about, too", () => {
    const paused = session("halted", { state: "paused" });
    const mixed = boardOf([dead("dead"), working("busy"), session("lazy"), paused]);
    const mode = (board: Board) => type(board, "*p").board.mode;
    expect(mode(mixed)).toEqual({ type: "confirm", does: "pause", sessions: ["busy", "lazy"] });
    expect(mode(boardOf([dead("dead"), paused]))).toEqual({ type: "confirm", does: "resume", sessions: ["halted"] });
    expect(mode(boardOf([dead("dead")]))).toEqual({ type: "confirm", does: "restart", sessions: ["dead"] });
    expect(type(boardOf([dead("dead"), paused]), "*py").wish).toEqual({ type: "resume", session: "halted" });
  });

  it("interrupts those whose turn is under way, and sends to those with a process", () => {
    expect(type(four, "*i").board.mode).toMatchObject({ does: "interrupt", sessions: ["asker", "busy"] });
    expect(type(four, "j Gi")).toMatchObject({
      wish: null,
      board: { notice: { text: "None of the picked sessions has a turn under way." } },
    });
    const reply = (name: string) => ({ name, wish: { type: "reply", session: name, text: "stop" } });
    expect(type(four, "*rstop\r").wish).toEqual({ type: "each", of: ["asker", "busy", "lazy"].map(reply) });
    expect(type(four, "j r")).toMatchObject({
      wish: null,
      board: { notice: { text: expect.stringContaining("None of the picked") as string } },
    });
  });

  it("shows what was not taken only to those who did not take it", () => {
    const refused = { type: "reply", sessions: ["asker", "lazy"], line: inputLine("stop") } as const;
    const board = { ...four, refused };
    expect(type(board, " G r").board.mode).toEqual(refused);
    expect(type(board, " G k r").board.mode).toMatchObject({ line: inputLine() });
    expect(type(board, "r").board.mode).toMatchObject({ sessions: ["asker"], line: inputLine() });
  });

  it("still answers only the question that is selected", () => {
    expect(type(four, "*a").wish).toMatchObject({ type: "answer", session: "asker" });
  });
});
