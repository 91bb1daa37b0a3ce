/** A message typed into a composer that can be read, while the terminal hangs in the middle of it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { Composer, Standing } from "../../agent/composer.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { InputStep } from "../../session/input.ts";
import type { Message } from "../../session/message.ts";
import { agentWith, type Ground, makeGround } from "../attention/watch-fixture.ts";
import { createDelivery, type Delivery } from "./delivery.ts";

const ENTER = { type: "key", key: "Enter" } as const;
const agent = agentWith({
  capabilities: { turns: false, confirms: false, transcript: false, steer: false },
  encode: ({ text }) => [{ type: "paste", text }, { type: "pause", ms: 100 }, ENTER],
});
const composer = { bottom: null, begins: null, empty: [], unless: [], pasted: null, clear: [] } as unknown as Composer;

let clock: TestClock;
let ground: Ground;
let delivery: Delivery;
let typed: InputStep[];
let standing: Standing;
let isHung: boolean;

beforeEach(async () => {
  clock = makeTestClock();
  [typed, standing, isHung] = [[], { state: "empty" }, false];
  ground = await makeGround(agent, {}, undefined, clock);
  const ask = <T>(answer: T): T => {
    if (isHung)
      throw new ReeveError({
        code: "runtime-unreachable",
        kind: "unavailable",
        message: "hangs",
        details: { sent: false },
      });
    return answer;
  };
  const send = async (_target: unknown, steps: readonly InputStep[]): Promise<void> => {
    typed.push(...ask(steps));
    for (const step of steps) {
      if (step.type === "paste") standing = { state: "text", text: step.text };
      if (step.type === "key") standing = { state: "empty" };
    }
  };
  delivery = createDelivery({
    ...ground.parts,
    receipts: ground.receipts,
    adapters: { agent: () => agent, runtime: () => ({ send, lastTypedAt: async () => null }) as unknown as Runtime },
    attention: {
      channel: () => null,
      describeChannel: () => null,
      look: async () => null,
      standing: async () => ask(standing),
      isCaughtUp: () => true,
      secrets: { known: () => null, learn: async () => null },
    },
    composer: async () => composer,
    typingPauseMs: 3_000,
    parkedWhy: () => null,
    pokeLater: () => undefined,
  });
  await ground.ledger.admit({
    id: "m",
    sessionId: "s",
    text: "do it",
    submit: true,
    how: "queue",
    caller: "operator",
    state: "admitted",
    admittedAt: clock.now(),
    settled: null,
    detail: null,
  });
});
afterEach(() => ground.dispose());

const state = (): Message["state"] | undefined => ground.store.mailbox.get("m")?.state;
/** It hangs from its first key on, for so long. */
async function deliver(hungMs: number): Promise<void> {
  const work = delivery.nextTask(ground.session())?.perform(new AbortController().signal);
  const hang = async (): Promise<void> => {
    while (typed.length === 0) await clock.sleep(10);
    isHung = true;
    await clock.sleep(hungMs);
    isHung = false;
  };
  await clock.during(Promise.all([work, hang()]));
}

test("a terminal that hangs between the text and Enter gets the Enter when it answers again", async () => {
  await deliver(4_000);
  expect([typed, state()]).toEqual([[{ type: "paste", text: "do it" }, ENTER], "delivered"]);
});

test("what was pasted is not as if it had never been typed, however long the terminal hangs", async () => {
  await deliver(60_000);
  expect([typed, state()]).toEqual([[{ type: "paste", text: "do it" }], "unknown"]);
  expect(ground.events("message-unknown")).toMatchObject([{ reason: { code: "delivery-unknown" } }]);
});
