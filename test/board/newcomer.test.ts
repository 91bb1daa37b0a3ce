/** What somebody tries who has never seen the board: each key does what is expected of it, or nothing. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import type { BoardRig } from "./board-rig.ts";
import { masked, openBoard } from "./board-rig.ts";

const NAMES = ["one", "two", "three"];

let home: TestHome;
let board: BoardRig;
beforeAll(async () => {
  home = createTestHome();
  for (const name of NAMES) await home.json("start", "practice", "--cwd", "/", "--name", name);
  for (const name of NAMES)
    await eventually(`${name} is idle`, async () => (await home.session(name))["activity"] === "idle");
});
afterAll(() => home.dispose());
beforeEach(async () => {
  board = await openBoard(home, { columns: 100, rows: 30 });
  await board.shows("1 of 3");
  await board.shows("Words it knows");
});
afterEach(() => board.close());

test("arrows, j and k, g and G, Home and End move the selection, and stop at the ends", async () => {
  const moves = [
    ["Down", "two"],
    ["j", "three"],
    ["Down", "three"],
    ["Up", "two"],
    ["k", "one"],
    ["k", "one"],
    ["G", "three"],
    ["g", "one"],
    ["End", "three"],
    ["Home", "one"],
    ["C-n", "two"],
    ["C-p", "one"],
  ] as const;
  for (const [key, name] of moves) {
    await board.press(key);
    await board.shows(new RegExp(`^> ${name} `, "m"));
  }
});

test("? shows every key; the key that closes it does nothing else", async () => {
  await board.press("?");
  const help = await board.shows("leave the board");
  expect(help).toContain("Any key goes back.");
  await board.press("x");
  await board.shows(/^> one /m);
  expect(await board.screen()).not.toContain("End one?");
});

test("a key without a meaning points at ?, and the sentence goes with the next key", async () => {
  await board.press("z");
  await board.shows("That key does nothing here; ? shows the keys.");
  await board.press("j");
  await board.shows(/^> two /m);
  expect(await board.screen()).not.toContain("That key");
});

test.each([
  ["Esc, also twice", "\u001B\u001B"],
  ["the left and right arrow", "\u001B[C\u001B[D"],
  ["F1 and Delete", "\u001BOP\u001B[3~"],
  ["the wheel, as terminals report it today", "\u001B[<65;10;5M"],
  // Its three bytes are letters: x, which would ask to end a session, and q, which would leave.
  ["the wheel, as old terminals report it", "\u001B[Mxqa"],
  ["a paste", "\u001B[200~xyq!\u001B[201~"],
  ["that the window has the focus", "\u001B[I\u001B[O"],
] as const)("harmless: %s", async (_, sequence) => {
  const before = masked(await board.screen());
  await board.type(sequence);
  await board.press("?");
  await board.shows("leave the board");
  await board.press("?");
  await board.shows(/^> one /m);
  expect(masked(await board.screen())).toBe(before);
});

test("Ctrl-C first leaves what is being typed, then the board", async () => {
  await board.press("r");
  await board.type("never sent");
  await board.shows("Reply to one: never sent");
  await board.press("C-c");
  await eventually("the line is gone", async () => !(await board.screen()).includes("never sent"));
  await board.press("C-c");
  await board.shows("left with 0 icanon");
  expect((await home.list()).map(({ state }) => state)).toEqual(NAMES.map(() => "running"));
});

test("Ctrl-D leaves the board", async () => {
  await board.press("C-d");
  await board.shows("left with 0 icanon");
});

test("Ctrl-Z stops it with the terminal as it was; continued, it is there again", async () => {
  await board.close();
  board = await openBoard(home, { columns: 100, rows: 30, hasJobControl: true });
  await board.shows("1 of 3");
  await board.press("C-z");
  expect(await board.shows(/stopped with 1\d\d icanon/)).not.toContain("1 of 3");
  await board.press("Enter");
  await board.shows("1 of 3");
  await board.press("G");
  await board.shows(/^> three /m);
});

test("Ctrl-Z where nobody could continue it does nothing", async () => {
  await board.press("C-z");
  await board.press("G");
  await board.shows(/^> three /m);
});

test("while it gets smaller and larger again, the selection stays", async () => {
  await board.press("j");
  for (const [columns, rows] of [
    [40, 8],
    [10, 3],
    [160, 40],
    [100, 30],
  ] as const) {
    await board.resize(columns, rows);
    if (rows > 3) await board.shows(/^> two/m);
  }
  await board.shows(/^─{100}$/m);
});
