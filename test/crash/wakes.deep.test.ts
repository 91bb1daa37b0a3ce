/**
 * kill -9 of the daemon between the event that is due and the wake that was
 * taken: the session is woken once for it, whatever the daemon had got done.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { idle, type Orchestrator, startOrchestrator } from "../support/orchestrator.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let boss: Orchestrator;
let count = 0;
beforeAll(async () => {
  home = createTestHome();
  boss = await startOrchestrator(home);
});
afterAll(() => home.dispose());

const points = [
  "wake.before-commit",
  "wake.after-commit",
  "send.before-effect",
  "send.leased",
  "send.after-effect",
  "send.after-fact",
];

test.each(points)("killed at %s: woken once", async (point) => {
  const name = `worker-${++count}`;
  const { session_id: id } = await boss.startWorker(name);
  await idle(home, name);
  const [wakes, lines] = [(await boss.wakes()).length, (await boss.lines()).length];
  await crashingAt(home, point, async () => {
    for (const { pid } of home.marked(id))
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended with the one before.
      }
  });
  const { seq } = await eventually("the death is told", async () =>
    (await home.events()).find((event) => event.session_id === id && event.type === "session-exited"),
  );
  await eventually("the cursor is past it", async () => {
    const { acknowledged } = (await home.session("boss"))["wakes"] as { acknowledged: number };
    return acknowledged >= seq;
  });
  await idle(home, "boss");
  expect((await boss.wakes()).slice(wakes).map(({ data }) => data)).toMatchObject([{ through: seq, count: 1 }]);
  const told = (await boss.lines()).slice(lines);
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(`: ${name} exited. `);
  await expectEventLogComplete(home);
});
