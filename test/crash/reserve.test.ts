/** kill -9 while the -wal is moved aside at the end of one daemon, or back at the start of the next. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

test.each(["reserve.before-park", "reserve.parked", "reserve.before-unpark", "reserve.unparked"])(
  "killed at %s: every session is there, and nothing had to be mended",
  async (point) => {
    const name = point.replace(".", "-");
    await home.json("start", "command", "--name", name, "--", "sleep", "600");
    await eventually("it runs", async () => (await home.session(name)).state === "running");
    const before = await home.list();
    const isAtStart = point.endsWith("unpark") || point.endsWith("unparked");
    if (isAtStart) await home.json("daemon", "stop");
    home.failAt(point);
    await home.run(isAtStart ? ["list"] : ["daemon", "stop"]);
    await eventually("it was killed there", () => !home.isFailpointArmed());
    expect(
      (await home.list()).map((session) => [session.name, session.state, session.runtime, session["held"]]),
    ).toEqual(before.map((session) => [session.name, session.state, session.runtime, null]));
    expect((await home.events()).map((event) => event.type)).not.toContain("store-rebuilt");
    expect(await home.json("end", name)).toMatchObject({ session: { state: "stopped" } });
  },
);
