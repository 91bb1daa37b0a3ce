/** kill -9 of the daemon around a time-out: it fires once, and what it is for is done. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

async function events(id: string, ...types: readonly string[]): Promise<readonly EventRow[]> {
  return (await home.events()).filter((event) => event.session_id === id && types.includes(event.type));
}

async function start(...args: readonly string[]): Promise<string> {
  return (await home.json<{ session_id: string }>("start", "practice", ...args)).session_id;
}

test.each(["timed-out.before-commit", "timed-out.after-commit", "interrupt.before-keys", "interrupt.after-effect"])(
  "killed at %s: a turn is interrupted, and that is told once",
  async (point) => {
    let id = "";
    await crashingAt(home, point, async () => {
      id = await start("--timeouts", "turn=1s:interrupt", "sleep 600");
    });
    await eventually("its turn is over", async () => (await events(id, "turn-interrupted")).length === 1);
    expect((await events(id, "timed-out")).map(({ data }) => data["which"])).toEqual(["turn"]);
    await home.json("end", id, "--when", "now", "--grace", "0");
    await expectEventLogComplete(home);
  },
);

test.each(["timed-out.before-commit", "timed-out.after-commit", "stop.after-signals"])(
  "killed at %s: an idle session is ended once",
  async (point) => {
    let id = "";
    await crashingAt(home, point, async () => {
      id = await start("--timeouts", "idle=1s");
    });
    await eventually("it is ended", async () => (await events(id, "session-stopped")).length === 1);
    expect(await events(id, "timed-out")).toHaveLength(1);
    expect((await events(id, "session-stopped"))[0]?.data).toMatchObject({ timed_out: "idle" });
    await expectEventLogComplete(home);
  },
);

test.each(["hold.before-commit", "hold.after-commit"])("killed at %s: it is held once", async (point) => {
  const id = await start();
  await crashingAt(home, point, async () => void (await home.json("hold", id, "--reason", "evidence")));
  expect(await events(id, "session-held")).toHaveLength(1);
  await home.json("end", id, "--even-if-held", "--when", "now", "--grace", "0");
});
