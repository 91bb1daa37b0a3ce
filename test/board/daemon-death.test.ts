/** What dies while the board is open: an agent, and the daemon itself. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import type { BoardRig } from "./board-rig.ts";
import { openBoard } from "./board-rig.ts";

let home: TestHome;
let board: BoardRig | null = null;
beforeAll(async () => {
  home = createTestHome();
  const names = ["one", "two", "three"];
  for (const name of names) await home.json("start", "practice", "--name", name, "say hello");
  for (const name of names) await home.json("wait", name, "--for", "turn-completed", "--timeout", "20");
  await home.json("seen", ...names);
});
afterEach(async () => {
  await board?.close();
  board = null;
});
afterAll(() => home.dispose());

test("an agent that dies is on top, with what it died of", async () => {
  board = await openBoard(home, { columns: 100, rows: 30 });
  await board.shows("3 idle");
  await home.json("send", "three", "crash", "--timeout", "0");
  await board.row("three", "failed .*status 70");
  // The selection stays where it was; the one that failed is above.
  expect((await board.shows("1 failed · 2 idle")).split("\n")[1]).toMatch(/^ {2}three/);
});

test("kill -9 of the daemon: the board says so, comes back by itself and is right", async () => {
  board = await openBoard(home, { columns: 100, rows: 30 });
  await board.shows("2 idle");
  await home.killDaemon();
  await board.shows(/^Reeve {2}(?!reconnecting).*2 idle/);
  await home.json("send", "one", "ask to go on", "--timeout", "0");
  await board.row("one", "needs you .*go on");
  await home.killDaemon();
  await board.press("g");
  await board.shows(/^Reeve {2}(?!reconnecting).*1 needs you/);
  await board.shows(/^> one/m);
  await eventually("the question could be read", async () => {
    await board?.press("a");
    return /just changed/.exec((await board?.shows(/Approved: |just changed/)) ?? "") === null;
  });
  await board.row("one", "finished|idle");
  await home.json("seen", "one");
  await board.row("one", "idle");
});

test("a daemon that was stopped on purpose stays stopped; R starts it", async () => {
  board = await openBoard(home, { columns: 100, rows: 30 });
  await board.shows("2 idle");
  await home.json("daemon", "stop");
  await board.shows("reconnecting");
  expect(await board.screen()).toContain("2 idle");
  await board.press("R");
  await board.shows(/^Reeve {2}(?!reconnecting).*2 idle/);
  await home.json("send", "two", "ask to stay", "--timeout", "0");
  await board.row("two", "needs you .*stay");
});

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 129],
  ["SIGINT", 130],
] as const)("%s gives the terminal back", async (signal, status) => {
  board = await openBoard(home, { columns: 100, rows: 30 });
  await board.shows("of 3");
  process.kill(await board.pid(), signal);
  expect(await board.shows(`left with ${status} icanon`)).not.toContain("of 3");
});
