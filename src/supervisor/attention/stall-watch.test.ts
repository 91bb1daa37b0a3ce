import type { Amendment } from "../../session/amend.ts";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { makeTestClock } from "../../../test/support/test-clock.ts";
import type { Input } from "../../session/input.ts";
import type { Reading } from "../../session/reading.ts";
import { createStallWatch } from "./stall-watch.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";

let ground: Ground;
afterEach(() => ground.dispose());

async function watch(stallAfterMs: number, changes: Amendment = {}): Promise<void> {
  ground = await makeGround(agentWith({}), changes);
  ground.use(createStallWatch({ ...ground.parts, stallAfterMs, workedAt: () => null }));
}

const take = (reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", ...reading });
const stalls = (): number => ground.events("session-stalled").length;
const started = (id: string): Promise<void> => take({ turn: { phase: "started", id } });

test("a turn of which nothing is heard has stalled: told once, and again for the next turn", async () => {
  await watch(20);
  await started("a");
  await eventually("it stalled", () => stalls() === 1);
  expect(ground.events("session-stalled")).toEqual([
    {
      type: "session-stalled",
      turn: 1,
      evidence: {
        source: "supervisor",
        detail: "no sign of life for 0 s in a turn under way",
        at: expect.any(Number),
      },
    },
  ]);
  await take({ turn: { phase: "completed", id: "a" } });
  await started("b");
  await eventually("the next one stalled too", () => stalls() === 2);
});

test("silence outside a turn, or while it asks, is none", async () => {
  await watch(5);
  await started("a");
  await take({ activity: "awaiting-input", asks: "?" });
  const asked = stalls();
  await started("b");
  await take({ turn: { phase: "completed", id: "b" } });
  const ended = stalls();
  // One that does stall tells that time enough has passed.
  await started("c");
  await eventually("the third turn stalled", () => ground.events("session-stalled").some(({ turn }) => turn === 3));
  expect(stalls()).toBe(Math.max(asked, ended) + 1);
});

test("a suspended session does not stall, and may once it goes on", async () => {
  await watch(30);
  await started("a");
  const inputs: readonly Input[] = [
    { type: "pause", mode: "suspend" },
    { type: "suspended", incarnation: 1, evidence: { source: "runtime", detail: "stopped", at: 1 } },
  ];
  for (const input of inputs) await ground.apply(input);
  expect(ground.session().process.suspended).toBe(true);
  const before = stalls();
  await ground.apply({ type: "resume" });
  await ground.apply({ type: "released", incarnation: 1, evidence: { source: "runtime", detail: "goes on", at: 2 } });
  await eventually("it stalled", () => stalls() === 1);
  expect(before).toBe(0);
});

test("after the daemon was stopped for long, what was said meanwhile is read first: no stall", async () => {
  const clock = makeTestClock();
  ground = await makeGround(agentWith({}), {}, undefined, clock);
  ground.use(createStallWatch({ ...ground.parts, stallAfterMs: 10_000, workedAt: () => null }));
  await started("a");
  await clock.holdUp(60_000);
  await take({ activity: "working", detail: "a hook of the time when nobody could read it" });
  await clock.advance(9_000);
  expect(stalls()).toBe(0);
  await clock.advance(1_000);
  await eventually("it stalled, for the silence since", () => stalls() === 1);
});
