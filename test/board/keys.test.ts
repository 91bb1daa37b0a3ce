/** The board driven by its keys: what a person does with five sessions. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import type { BoardRig } from "./board-rig.ts";
import { openBoard } from "./board-rig.ts";

let home: TestHome;
let board: BoardRig;
beforeAll(async () => {
  home = createTestHome();
  board = await openBoard(home, { columns: 100, rows: 30 });
});
afterAll(async () => {
  await board.close();
  await home.dispose();
});

/** As a person does who was too quick for the board: a question that has just come is not answered. */
async function answer(key: "a" | "d", sentence: string): Promise<void> {
  await eventually(sentence, async () => {
    await board.press(key);
    return /just changed/.exec(await board.shows(new RegExp(`${sentence}|just changed`))) === null;
  });
}

test("without a session it shows three lines that start one, and n starts one", async () => {
  const empty = await board.shows("Press n to start one here");
  expect(empty.match(/reeve start /g)).toHaveLength(3);
  await board.press("n");
  await board.type("practice ask to list files");
  await board.press("Enter");
  await board.row("practice-1", 'needs you .*Run "to list files"\\?');
  await board.shows("1 needs you");
});

test("what others start appears by itself", async () => {
  await home.json("start", "practice", "--name", "helper", "say hello");
  await home.json("start", "practice", "--name", "sleeper", "sleep 600 then answer");
  await board.row("helper", "finished");
  await board.row("sleeper", "working");
  await board.shows("1 needs you · 1 finished · 1 working");
});

test("a approves what is asked, and says that it took effect", async () => {
  await answer("a", "Approved: ");
  await board.row("practice-1", "finished");
  expect(await home.json("approvals")).toMatchObject({ approvals: [] });
  // From where it was answered is recorded, too.
  const settled = (await home.events()).filter(({ type }) => type === "approval-settled");
  expect(settled.map(({ data: { by, via } }) => [by, via])).toEqual([["operator", "board"]]);
});

test("what finished is seen by who looks at it, and by nobody else", async () => {
  expect(await board.shows(/^> practice-1/m)).toMatch(/finished/);
  expect(await home.session("practice-1")).toMatchObject({ need: "finished", unseen: true });
  await board.press("v");
  await board.row("practice-1", "idle");
  expect(await home.session("practice-1")).toMatchObject({ need: "idle", unseen: false });
  expect(await home.session("helper")).toMatchObject({ need: "finished", unseen: true });
  await board.press("v");
});

test("r replies, d denies, and Tab finds who needs somebody", async () => {
  await home.json("send", "helper", "ask to paint the wall");
  await board.row("helper", "needs you .*paint the wall");
  await board.press("G", "Tab");
  await board.shows(/^> helper .*needs you/m);
  await answer("d", "Denied: ");
  await board.row("helper", "finished");
  await board.press("r");
  await board.type("say another thing");
  await board.shows("Reply to helper: say another thing");
  await board.press("Enter");
  await board.shows("Delivered.");
  await board.shows("say another thing");
});

test("Enter attaches, and who attaches has seen it; its keys lead back to the board", async () => {
  await home.json("seen", "helper");
  await board.row("helper", "idle");
  await home.json("send", "helper", "say it again", "--wait");
  await board.row("helper", "finished");
  await board.press("Enter");
  const attached = await board.shows(/detach: C-b d/);
  expect(attached).toContain("Practice agent");
  await eventually("the board has told that it was seen", async () => !(await home.session("helper")).unseen);
  await board.press("C-b", "d");
  await board.shows(/^Reeve {2}/);
  expect(await board.row("helper", "idle")).toMatch(/^> helper/);
});

test("/ searches, f filters, v shows the transcript, Esc shows all", async () => {
  await board.press("/");
  await board.type("sleep");
  await board.press("Enter");
  const found = await board.shows("1 of 1");
  expect(found).not.toContain("practice-1");
  await board.press("Escape");
  await board.shows("of 3");
  await board.press("f", "f");
  await board.shows("only working");
  await board.press("Escape", "/");
  await board.type("helper");
  await board.press("Enter", "v");
  await board.shows(/Transcript: /);
  await board.shows("assistant, ");
  await board.press("v", "Escape");
  await board.shows("of 3");
});

test("p pauses and resumes; x ends only after y", async () => {
  await board.press("/");
  await board.type("helper");
  await board.press("Enter", "p");
  await board.row("helper", "paused");
  await board.press("p");
  await board.row("helper", "idle");
  await board.press("x");
  await board.shows("End helper?");
  await board.press("n");
  await board.shows("Nothing was done.");
  expect(await home.session("helper")).toMatchObject({ desired: "running" });
  await board.press("x", "y");
  await board.shows("No session matches");
  expect(await home.session("helper")).toMatchObject({ state: "stopped" });
  await board.press("Escape");
  await board.shows("of 2");
});

test("what is started again after its end is back at its place, in the order of list", async () => {
  await home.json("end", "practice-1");
  await board.shows("of 1");
  await home.json("restart", "helper");
  await board.row("helper", "idle");
  await home.json("restart", "practice-1");
  await board.row("practice-1", "idle");
  const { stdout: listed } = await home.run(["list", "-q"]);
  expect(listed).toBe("sleeper\npractice-1\nhelper\n");
  await board.shows(/^..sleeper .*\n..practice-1 .*\n..helper /m);
});

test("* picks all, and p asks once and pauses them all, wherever the selection is", async () => {
  await board.press("*");
  await board.shows(/^>\*sleeper .*\n \*practice-1 .*\n \*helper /m);
  await board.press("j", "p");
  await board.shows("Pause 3 picked sessions?");
  await board.press("y");
  await board.shows("Paused 3 of 3 sessions.");
  expect((await home.list()).map(({ state }) => state)).toEqual(["paused", "paused", "paused"]);
  await board.shows("Reeve  3 paused");
  // They stay picked, in whatever order they are now.
  await board.press("p");
  await board.shows("Resume 3 picked sessions?");
  await board.press("y");
  await board.shows("Resumed 3 of 3 sessions.");
  expect((await home.list()).map(({ state }) => state)).toEqual(["running", "running", "running"]);
  await board.press("Escape");
  await board.shows(/^(?!.*picked:)/);
});

test("i interrupts a turn, and its session lives on", async () => {
  await board.press("/");
  await board.type("sleeper");
  await board.press("Enter");
  await board.row("sleeper", "working");
  await board.press("i");
  await board.shows("Interrupt the turn under way in sleeper?");
  await board.press("y");
  await board.shows("The turn of sleeper was interrupted.");
  expect(await home.session("sleeper")).toMatchObject({ turn_open: false, state: "running" });
  await board.press("Escape");
  await board.shows("of 3");
});

test("a mistake is one sentence at the bottom, and the board goes on", async () => {
  await board.press("n");
  await board.press("C-u");
  await board.type("nobody do something");
  await board.press("Enter");
  await board.shows(/nobody/);
  await board.press("j");
  await board.shows("of 3");
});

test("q gives the terminal back as it was", async () => {
  await board.press("q");
  const after = await board.shows("left with 0 icanon");
  expect(after).not.toContain("needs you");
  expect((await home.list()).filter(({ state }) => state === "running")).toHaveLength(3);
});
