/**
 * kill -9 of the daemon around items of work: added once, given to one
 * worker together with its start or its message, returned once when the worker
 * dies.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { idle } from "../support/orchestrator.ts";
import { operatorOf } from "../support/session-caller.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

async function changesOf(workId: string): Promise<readonly unknown[]> {
  const own = (await home.events()).filter(({ data }) => data["work_id"] === workId);
  return own.map(({ type, data }) => (type === "work-added" ? "added" : data["change"]));
}

const add = async (): Promise<string> =>
  (await operatorOf(home).addWork({ title: `Item ${++count}`, agent: "practice", cwd: home.dir })).work_id;

test.each(["work-add.before-commit", "work-add.after-commit"])(
  "killed at %s: the item is there once",
  async (point) => {
    const title = `Item ${++count}`;
    await crashingAt(home, point, async () => void (await home.json("work", "add", title, "--cwd", home.dir)));
    const { items } = await operatorOf(home).listWork({ search: title });
    expect(items).toMatchObject([{ title, state: "pending" }]);
    expect(await changesOf(items[0]?.work_id ?? "")).toEqual(["added"]);
    await operatorOf(home).changeWork({ work: items[0]?.work_id ?? "", change: "cancel" });
  },
);

test.each(["start.before-commit", "start.after-commit"])(
  "killed at %s: one worker is started, and has the item",
  async (point) => {
    const work = await add();
    const name = `starter-${count}`;
    await crashingAt(home, point, async () => void (await home.json("start", "--work", work, "--name", name)));
    // It is idle for a moment before it takes its prompt.
    await eventually("its turn has begun", async () => (await home.session(name))["turns"] !== 0);
    const worker = await idle(home, name);
    expect(worker["work"]).toMatchObject({ work_id: work });
    expect(worker["turns"]).toBe(1);
    expect(await changesOf(work)).toEqual(["added", "begin"]);
    expect((await home.list()).filter((session) => session.name === name)).toHaveLength(1);
    await home.json("work", "done", work);
    await home.json("end", name, "--when", "now", "--grace", "0");
  },
);

test.each(["send.before-commit", "send.after-commit"])(
  "killed at %s: the message is sent once, and the item is with it",
  async (point) => {
    const work = await add();
    const name = `receiver-${count}`;
    await home.json("start", "practice", "--name", name);
    await idle(home, name);
    await crashingAt(home, point, async () => {
      await home.json("send", name, "Say hello", "--work", work, "--timeout", "0");
    });
    await eventually("the message was taken", async () => (await home.session(name))["turns"] === 1);
    const worker = await idle(home, name);
    expect([worker["turns"], worker["work"]]).toMatchObject([1, { work_id: work }]);
    expect(await changesOf(work)).toEqual(["added", "begin"]);
    await home.json("work", "done", work);
    await home.json("end", name, "--when", "now", "--grace", "0");
  },
);

test.each(["work-release.before-commit", "work-release.after-commit"])(
  "killed at %s: the item of a dead worker is returned once",
  async (point) => {
    const work = await add();
    const name = `dying-${count}`;
    const worker = await home.json<SessionRow>("start", "--work", work, "--name", name);
    await idle(home, name);
    await crashingAt(home, point, async () => {
      for (const { pid } of home.marked(worker.session_id)) killIfThere(pid);
      await eventually("the daemon dies", () => !home.isFailpointArmed());
    });
    const item = await eventually("it is returned", async () => {
      const now = await operatorOf(home).getWork({ work });
      return now.state === "pending" && now;
    });
    expect(item).toMatchObject({ failures: 1, worker: null });
    expect(await changesOf(work)).toEqual(["added", "begin", "release"]);
    await home.json("work", "cancel", work);
  },
);

test.each(["work-built.after-commit"])("killed at %s: reported once", async (point) => {
  const work = await add();
  await crashingAt(home, point, async () => void (await home.json("work", "built", work, "It is done")));
  expect(await operatorOf(home).getWork({ work })).toMatchObject({ state: "built", result: { text: "It is done" } });
  expect(await changesOf(work)).toEqual(["added", "built"]);
  await expectEventLogComplete(home);
});
