/** kill -9 of the daemon around an end that waits and is taken back: never both, never neither. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { pressInPane } from "../support/pane.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let worker = "";
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
beforeEach(() => {
  worker = `worker-${++count}`;
});
afterAll(() => home.dispose());

async function startEnding(): Promise<{ readonly id: string; readonly ending: ReturnType<TestHome["run"]> }> {
  const { session_id: id } = await home.json<{ session_id: string }>(
    "start",
    "practice",
    "--name",
    worker,
    "sleep 100",
  );
  await eventually("it works", async () => (await askSession(home, worker))?.["activity"] === "working");
  const ending = home.run(["end", worker]);
  await eventually("its end is recorded", async () => (await askSession(home, worker))?.desired === "stopped");
  return { id, ending };
}

test.each(["cancel-end.before-commit", "cancel-end.after-commit"])(
  "killed at %s: taken back once, and the session lives on",
  async (point) => {
    const { id, ending } = await startEnding();
    await crashingAt(home, point, async () => void (await home.json("end", worker, "--cancel")));
    expect((await ending).status).toBe(1);
    await pressInPane(home, id, "Escape");
    expect((await home.run(["send", worker, "say hello", "--wait"])).status).toBe(0);
    const types = (await home.events()).filter((event) => event.session_id === id).map((event) => event.type);
    expect(types.filter((type) => type.startsWith("end-"))).toEqual(["end-requested", "end-cancelled"]);
    expect(types).not.toContain("session-exited");
    await expectEventLogComplete(home);
  },
);

test.each(["stop-begun.before-commit", "stop-begun.after-commit", "stop.begun"])(
  "killed at %s: it ends, and cannot be taken back any more",
  async (point) => {
    const { id, ending } = await startEnding();
    await crashingAt(home, point, () => pressInPane(home, id, "Escape"));
    expect((await ending).status).toBe(0);
    expect((await home.run(["end", worker, "--cancel"])).status).toBe(1);
    expect(await home.session(worker)).toMatchObject({ state: "stopped", desired: "stopped" });
    expect(home.marked(id)).toEqual([]);
    await expectEventLogComplete(home);
  },
);
