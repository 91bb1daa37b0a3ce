/** The daemon is killed while it deals with the loss of all sessions: one event, and each of them comes back once. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { runProgram, type SessionRow } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

const POINTS = [
  "found-absent.before-commit",
  "found-absent.after-commit",
  "restart-due.before-commit",
  "restart-due.after-commit",
];

test.concurrent.each(POINTS)("killed at %s: told once, and all come back once", (point) =>
  inHome("", async (home) => {
    for (const name of ["one", "two", "three"])
      await home.json("start", "command", "--name", name, "--restart", "always", "--", "sleep", "1000");
    const isUp = ({ state, liveness }: SessionRow): boolean => state === "running" && liveness === "running";
    await eventually("all run", async () => (await home.list()).every(isUp));
    const { stdout } = await runProgram(
      "tmux",
      ["-S", home.tmuxSocket, "display-message", "-p", "#{pid}"],
      home.environment,
    );
    await crashingAt(home, point, async () => void process.kill(Number(stdout), "SIGKILL"));
    await eventually("all are back", async () =>
      (await home.list()).every((session) => isUp(session) && session["restarts"] === 1),
    );
    for (const { session_id: id } of await home.list())
      expect(home.marked(id).map(({ incarnation }) => incarnation)).toEqual([2, 2]);
    await expectEventLogComplete(home);
    const lost = (await home.events()).filter(({ type }) => type === "runtime-lost");
    expect(lost.map(({ data }) => data["sessions"])).toEqual([3]);
  }),
);
