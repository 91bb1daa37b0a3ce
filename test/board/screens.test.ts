/** The board at three sizes, with colours and without: what is seen is in golden/. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { expectGolden, masked, openBoard } from "./board-rig.ts";

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  // Not in the home, whose name differs from run to run.
  const start = (...args: readonly string[]) => home.json("start", "--cwd", "/", ...args);
  await start("practice", "--name", "asker", "ask to list files");
  await start("practice", "--name", "crasher", "crash");
  await start("practice", "--name", "writer", "say something");
  await start("practice", "--name", "sleeper", "sleep 600 then answer");
  const script = "printf '\\033[32mready\\033[0m on \\033[1;4mport 3000\\033[0m\\n'; exec sleep 600";
  await start("command", "--name", "server", "--", "sh", "-c", script);
  await home.json("wait", "asker", "--for", "awaiting-approval", "--timeout", "20");
  await home.json("wait", "crasher", "--for", "exited", "--timeout", "20");
  await home.json("wait", "writer", "--for", "turn-completed", "--timeout", "20");
});
afterAll(() => home.dispose());

const SIZES = [
  { columns: 60, rows: 20 },
  { columns: 100, rows: 30 },
  { columns: 200, rows: 50 },
] as const;

test.each(SIZES)("at $columns x $rows, with colours", async ({ columns, rows }) => {
  const board = await openBoard(home, { columns, rows });
  try {
    await board.shows("[y/n]");
    expectGolden(`${columns}x${rows}-colour`, masked(await board.coloured()));
    await board.press("G");
    await board.shows("port 3000");
    // The agent's own colours, and what is drawn around them.
    expect(await board.coloured()).toMatch(/\u001B\[(?:0;)?32m(?:\u001B\[[0-9]+m)*ready/);
    expectGolden(`${columns}x${rows}-server`, masked(await board.screen()));
  } finally {
    await board.close();
  }
});

test.each(SIZES)("at $columns x $rows, without colours", async ({ columns, rows }) => {
  const board = await openBoard(home, { columns, rows, variables: { NO_COLOR: "1" } });
  try {
    await board.shows("[y/n]");
    const screen = await board.coloured();
    // Bold, reverse and back again; no colour but the terminal's own.
    expect(
      [...screen.matchAll(/\u001B\[([0-9;]*)m/g)].flatMap(([, codes = ""]) => codes.split(";")),
    ).not.toContainEqual(expect.stringMatching(/^(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])$/));
    expectGolden(`${columns}x${rows}-plain`, masked(await board.screen()));
    await board.press("?");
    await board.shows("leave the board");
    expectGolden(`${columns}x${rows}-help`, await board.screen());
  } finally {
    await board.close();
  }
});

test("one board through all sizes, also those that are too small", async () => {
  const board = await openBoard(home, { columns: 200, rows: 50 });
  try {
    await board.shows(/ │ asker/);
    await board.resize(20, 5);
    await board.shows(/^> asker/m);
    await board.resize(60, 20);
    await board.shows(/^─{60}$/m);
    await board.resize(200, 50);
    await board.shows(/ │ asker/);
  } finally {
    await board.close();
  }
});

test("in a terminal that shows only ASCII", async () => {
  const board = await openBoard(home, { columns: 60, rows: 20, variables: { LANG: "C", LC_ALL: "C" } });
  try {
    await board.shows("[y/n]");
    expect(await board.screen()).toMatch(/^-{60}$/m);
    // oxlint-disable-next-line no-control-regex -- everything but ASCII is what is looked for
    expect(await board.screen()).not.toMatch(/[^\u0000-\u007f]/);
  } finally {
    await board.close();
  }
});
