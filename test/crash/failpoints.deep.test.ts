/**
 * kill -9 of the daemon at every named point around commit and effect. The
 * command that was under way is repeated by the CLI with its idempotency key
 * and must come out as if nothing had happened: nothing lost, nothing twice,
 * nothing left behind.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let worker = "";
beforeAll(() => {
  home = createTestHome();
});
beforeEach(() => {
  worker = `worker-${++count}`;
});
afterAll(() => home.dispose());
let count = 0;

const startCat = (): Promise<unknown> =>
  home.json("start", "command", "--name", worker, "--cwd", home.dir, "--", "sh", "-c", `exec cat > ${worker}.received`);

async function running(): Promise<{ readonly id: string; readonly pid: number }> {
  const session = await eventually("the session runs", async () => {
    const found = await home.session(worker);
    return found.state === "running" && found.liveness === "running" && found;
  });
  return { id: session.session_id, pid: session.runtime.pid ?? 0 };
}

describe("start", () => {
  const points = [
    "start.before-commit",
    "store.before-commit",
    "store.after-commit",
    "start.after-commit",
    "create.before-effect",
    "planned.before-commit",
    "create.planned",
    "create.served",
    "create.after-cgroup",
    "create.after-effect",
    "created.before-commit",
    "created.after-commit",
    "create.after-fact",
  ];
  test.each(points)("killed at %s: one session, one process", async (point) => {
    await crashingAt(home, point, async () => void (await startCat()));
    const { id } = await running();
    expect((await home.list()).filter((session) => session.name === worker)).toHaveLength(1);
    expect(home.marked(id).map((found) => found.incarnation)).toEqual(home.marked(id).map(() => 1));
    expect(home.marked(id).length).toBe(2); // the wrapper and cat
    await expectEventLogComplete(home);
  });
});

describe("send", () => {
  const points = [
    "send.before-commit",
    "send.after-commit",
    "send.before-effect",
    "send.leased",
    "send.after-effect",
    "send.after-fact",
  ];
  test.each(points)("killed at %s: typed once, or said to be unknown", async (point) => {
    await startCat();
    await running();
    let answer: { message_id: string; state: string } = { message_id: "", state: "" };
    await crashingAt(home, point, async () => {
      answer = JSON.parse((await home.run(["send", worker, "the message", "--json"])).stdout) as typeof answer;
    });
    const outcome = await eventually("the message is settled", async () =>
      (await home.events()).find(
        (event) =>
          event.data["message_id"] === answer.message_id &&
          ["message-delivered", "message-unknown"].includes(event.type),
      ),
    );
    // What is sent next still arrives, in order, whatever became of the first.
    expect(await home.json("send", worker, "the next")).toMatchObject({ state: "delivered" });
    const received = await eventually("the next message is received", () => {
      const text = readFileSync(join(home.dir, `${worker}.received`), "utf8");
      return text.endsWith("the next\n") && text;
    });
    const copies = received.split("the message\n").length - 1;
    if (outcome.type === "message-delivered") expect(copies).toBe(1);
    else expect(copies).toBeLessThanOrEqual(1);
    const { session_id } = await home.session(worker);
    expect(
      (await home.events()).filter((event) => event.type === "message-admitted" && event.session_id === session_id),
    ).toHaveLength(2);
    await expectEventLogComplete(home);
  });
});

describe("pause and resume", () => {
  const pausing = [
    "pause.before-commit",
    "pause.after-commit",
    "suspend.before-effect",
    "suspend.after-effect",
    "suspended.before-commit",
    "suspended.after-commit",
    "suspend.after-fact",
  ];
  test.each(pausing)("killed at %s: suspended, with the same process", async (point) => {
    await startCat();
    const { id, pid } = await running();
    await crashingAt(home, point, async () => void (await home.json("pause", worker, "--suspend")));
    await eventually("it is paused", async () => (await home.session(worker)).state === "paused");
    expect(
      home
        .marked(id)
        .filter((found) => found.pid !== pid)
        .map((found) => found.state),
    ).toEqual(["T"]);
    expect((await home.session(worker)).runtime.pid).toBe(pid);
    await expectEventLogComplete(home);
  });

  const resuming = [
    "resume.before-commit",
    "resume.after-commit",
    "release.before-effect",
    "release.after-effect",
    "released.before-commit",
    "released.after-commit",
    "release.after-fact",
  ];
  test.each(resuming)("killed at %s: running again, with the same process", async (point) => {
    await startCat();
    const { id, pid } = await running();
    await home.json("pause", worker, "--suspend");
    await crashingAt(home, point, async () => void (await home.json("resume", worker)));
    await eventually("it runs", async () => (await home.session(worker)).state === "running");
    expect(home.marked(id).map((found) => found.state)).not.toContain("T");
    expect((await home.session(worker)).runtime.pid).toBe(pid);
    await expectEventLogComplete(home);
  });
});

describe("restart", () => {
  const points = [
    "restart.before-commit",
    "restart.after-commit",
    "stop.before-effect",
    "stop.after-signals",
    "found-exited.before-commit",
    "found-exited.after-commit",
    "stop.after-effect",
    "cleared.before-commit",
    "cleared.after-commit",
    "create.before-effect",
    "create.planned",
    "create.after-cgroup",
    "create.after-effect",
    "created.before-commit",
    "created.after-commit",
  ];
  test.each(points)("killed at %s: one new process, the old one gone", async (point) => {
    await startCat();
    const { id, pid } = await running();
    await crashingAt(home, point, async () => void (await home.json("restart", worker)));
    await eventually("it runs anew", async () => {
      const session = await home.session(worker);
      return session.state === "running" && session.runtime.pid !== pid;
    });
    expect(home.marked(id).map((found) => found.incarnation)).toEqual([2, 2]);
    expect((await home.session(worker))["restarts"]).toBe(1);
    await expectEventLogComplete(home);
  });
});

describe("end", () => {
  const points = [
    "end.before-commit",
    "end.after-commit",
    "stop.before-effect",
    "stop.after-signals",
    "found-exited.before-commit",
    "found-exited.after-commit",
    "destroy.after-pane",
    "stop.after-effect",
    "cleared.before-commit",
    "cleared.after-commit",
    "stop.after-fact",
  ];
  test.each(points)("killed at %s: stopped, and nothing is left", async (point) => {
    await startCat();
    const { id } = await running();
    await crashingAt(home, point, async () => void (await home.json("end", worker)));
    await eventually("it is stopped", async () => {
      const session = await home.session(worker);
      return session.state === "stopped" && session.desired === "stopped";
    });
    expect(home.marked(id)).toEqual([]);
    await expectEventLogComplete(home);
  });
});
