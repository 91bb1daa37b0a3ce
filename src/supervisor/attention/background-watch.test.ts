/** A command that an agent left in the background holds its turn for a while, not for ever. */
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { Reading } from "../../session/reading.ts";
import { createBackgroundWatch } from "./background-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";

const server = { id: "s", kind: "command", title: "npm run dev" } as const;
const review = { id: "a", kind: "subagent", title: "review" } as const;

const grounds: Ground[] = [];
afterEach(async () => {
  for (const ground of grounds.splice(0)) await ground.dispose();
});

const take = (ground: Ground, reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", ...reading });

async function held(...running: readonly (typeof server | typeof review)[]): Promise<Ground> {
  const ground = await makeGround(agentWith({}));
  grounds.push(ground);
  ground.use(createBackgroundWatch({ ...ground.parts, commandPatienceMs: 150 }));
  await take(ground, { turn: { phase: "started", id: "1" } });
  await take(ground, { turn: { phase: "completed", id: "1" }, background: { running } });
  return ground;
}

test("a command: the turn is told complete, and what runs is still shown", async () => {
  const ground = await held(server);
  expect(ground.session()).toMatchObject({ conversation: { turnOpen: true, activity: { status: "working" } } });
  await eventually("it is let go", () => !ground.session().conversation.turnOpen);
  expect(ground.session()).toMatchObject({
    conversation: { activity: { status: "idle" }, background: [{ ...server, holds: false }] },
  });
  expect(ground.events("turn-completed")).toMatchObject([
    {
      turn: 1,
      evidence: {
        source: "supervisor",
        detail: "still running in the background after 0 s, so the turn no longer waits for it: npm run dev",
      },
    },
  ]);
});

test("with a subagent beside it the turn is waited for, and the command for as long again after that", async () => {
  const ground = await held(server, review);
  // Begun later and let go: the time is over for the first one, too.
  const later = await held(server);
  await eventually("the other is let go", () => !later.session().conversation.turnOpen);
  expect(ground.session()).toMatchObject({ conversation: { turnOpen: true, background: [server, review] } });
  await take(ground, { background: { ended: ["a"] } });
  await eventually("it is let go", () => !ground.session().conversation.turnOpen);
  expect(ground.events("turn-completed")).toHaveLength(1);
});

test("a command that ends in time is nothing to let go", async () => {
  const ground = await held(server);
  await take(ground, { turn: { phase: "started", id: "2", continues: true }, background: { ended: ["s"] } });
  await take(ground, { turn: { phase: "completed", id: "2" }, background: { running: [] } });
  expect(ground.events("turn-completed")).toMatchObject([{ turn: 1, evidence: { source: "hook" } }]);
  expect(ground.session().conversation.background).toEqual([]);
});
