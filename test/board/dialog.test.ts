/**
 * A dialog of the agent itself on the board: where a rule says by which keys, a
 * and d answer it; else they press nothing, and who attaches answers it.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { openBoard } from "./board-rig.ts";

/** Writes down the line that it is sent. */
const PROGRAM = `#!/bin/sh
printf 'Trust this folder? (y/n)'
read -r answer
echo "answered $answer" > received
printf '\\033[2J\\033[Hready>'
exec sleep 600
`;

/** What makes its question one that keys can answer. */
const RULES = String.raw`[[rule]]
name = "trust"
screen = '^Trust this folder\?'
activity = "awaiting-approval"
asks = '^Trust this folder\?'

[rule.approve]
choice = '\((y)/n\)'
keys = ["y", "Enter"]

[rule.deny]
choice = '\(y/(n)\)'
keys = ["n", "Enter"]
`;

test.each([
  ["a", "y", "Approved: Trust this folder?"],
  ["d", "n", "Denied: Trust this folder?"],
])("a rule says how: %s answers it", (key, answer, says) =>
  inHome("", async (home) => {
    const program = join(home.dir, "fake-agent");
    const received = join(home.dir, "received");
    writeFileSync(program, PROGRAM, { mode: 0o755 });
    home.configure(`[agent.fake]\ncommand = ["${program}"]\nready = '^ready>$'\nworking = '^working$'\n`);
    mkdirSync(join(home.dir, "rules"));
    writeFileSync(join(home.dir, "rules", "fake.toml"), RULES);
    await home.json("start", "fake", "--name", "fake", "--cwd", home.dir);
    const board = await openBoard(home, { columns: 100, rows: 30 });
    try {
      await board.row("fake", "needs you .*Trust this folder");
      await board.shows("a approves · d denies");
      // The board wants a question to be read before it is answered.
      await eventually("it is answered", async () => {
        await board.press(key);
        return existsSync(received) && readFileSync(received, "utf8") === `answered ${answer}\n`;
      });
      await board.shows(says);
      await board.row("fake", "idle");
    } finally {
      await board.close();
    }
  }),
);

test("it is answered in the session, and not with a or d", () =>
  inHome("", async (home) => {
    const program = join(home.dir, "fake-agent");
    const received = join(home.dir, "received");
    writeFileSync(program, PROGRAM, { mode: 0o755 });
    home.configure(`[agent.fake]
command = ["${program}"]
ready = '^ready>$'
working = '^working$'
waiting = '^Trust this folder\\? \\(y/n\\)$'
`);
    await home.json("start", "fake", "--name", "fake", "--cwd", home.dir);
    const board = await openBoard(home, { columns: 100, rows: 30 });
    try {
      await board.row("fake", "needs you .*Trust this folder");
      const asked = await board.shows("Enter attaches, to answer it there");
      expect(asked).not.toContain("a approve");
      for (const key of ["a", "d"]) {
        await board.press(key);
        await board.shows("It is answered in the session: press Enter to attach.");
        await board.press("j");
        await eventually("the sentence is gone", async () => !(await board.screen()).includes("It is answered"));
      }
      expect(existsSync(received)).toBe(false);
      await board.press("Enter");
      await board.shows(/detach: C-b d/);
      await board.press("y", "Enter");
      // Nothing but what was typed there: no key of the board came before it.
      await eventually(
        "the answer is written",
        () => existsSync(received) && readFileSync(received, "utf8") === "answered y\n",
      );
      await board.press("C-b", "d");
      await board.row("fake", "idle");
    } finally {
      await board.close();
    }
  }));
