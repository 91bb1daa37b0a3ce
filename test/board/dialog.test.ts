/** A dialog of the agent itself on the board: a and d press nothing in it; who attaches answers it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
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
