/**
 * kill -9 of the daemon between a rejection and the turn that goes on after the
 * reset: sessions are parked, let go and continued once, whatever the daemon had
 * got done.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { idle } from "../support/orchestrator.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
  home.configure("[quota]\nstagger_seconds = 0.1\n");
});
afterAll(() => home.dispose());

let count = 0;
const points = [
  "park.before-commit",
  "park.after-commit",
  "quota.before-commit",
  "quota.after-commit",
  "resume.before-commit",
  "resume.after-commit",
];

test.each(points)("killed at %s: parked, and continued once", async (point) => {
  const [first, second] = [`first-${++count}`, `second-${count}`];
  for (const name of [first, second]) await home.json("start", "practice", "--name", name);
  for (const name of [first, second]) await idle(home, name);
  const isEarly = point.startsWith("park");
  const limited = async (): Promise<void> =>
    void (await home.run(["send", first, `limit ${isEarly ? 2 : 4}s of round-${count}`]));
  if (!isEarly) await limited();
  await crashingAt(home, point, async () => {
    if (isEarly) await limited();
    await home.run(["send", second, "hello", "--timeout", "0"]);
  });
  await eventually("both have finished", async () => {
    const [one, other] = [await home.session(first), await home.session(second)];
    const isDone = (session: typeof one): boolean =>
      session["last_turn"] === "completed" && session["turn_open"] === false;
    return isDone(one) && isDone(other) && one["turns"] === 2 && other["turns"] === 1;
  });
  const { session_id: id } = await home.session(first);
  const own = (await home.events()).filter(({ session_id: of }) => of === id);
  expect(own.filter(({ type }) => type === "turn-started")).toHaveLength(2);
  expect(own.filter(({ data }) => data["is_resume"] === true)).toHaveLength(1);
  const { quotas } = await home.json<{ quotas: readonly Record<string, unknown>[] }>("quota");
  expect(quotas.filter(({ status }) => status !== "open")).toEqual([]);
  await expectEventLogComplete(home);
  for (const name of [first, second]) await home.json("end", name);
});
