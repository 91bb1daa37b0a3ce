/** Messages given to a session, over a real store; its terminal is a list of what was typed. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeTestClock, type TestClock } from "../../../test/support/test-clock.ts";
import type { Channel } from "../../agent/contract.ts";
import { ReeveError } from "../../platform/reeve-error.ts";
import type { Runtime } from "../../runtime/contract.ts";
import type { InputStep } from "../../session/input.ts";
import type { Message } from "../../session/message.ts";
import type { Reading } from "../../session/reading.ts";
import { agentWith, type Ground, makeGround } from "../attention/watch-fixture.ts";
import { createDelivery, type Delivery } from "./delivery.ts";
import type { Task } from "./effect-runner.ts";

const agent = agentWith({
  encode: ({ text }) => [{ type: "paste", text }],
  interrupt: [{ type: "key", key: "Escape" }],
  accepts: (status) => status === "idle" || status === "awaiting-input",
});

let clock: TestClock;
let ground: Ground;
let delivery: Delivery;
/** What was typed, each with the state of message m at that moment. */
let typed: { readonly steps: readonly InputStep[]; readonly state: Message["state"] | undefined }[];
let pokes: number[];
let fails: Error | null;
let typedByPersonAt: number | null;
let onScreen: Reading | null;
let channel: Channel | null;
/** The commit of the lease fails. */
let failsToLease: Error | null;

beforeEach(async () => {
  clock = makeTestClock();
  [typed, pokes, fails, typedByPersonAt, onScreen, channel, failsToLease] = [[], [], null, null, null, null, null];
  ground = await makeGround(agent, {}, undefined, clock);
  delivery = deliver();
});
afterEach(() => ground.dispose());

function deliver(): Delivery {
  const runtime = {
    send: async (_target: unknown, steps: readonly InputStep[]) => {
      typed.push({ steps, state: ground.store.mailbox.get("m")?.state });
      if (fails !== null) throw fails;
    },
    lastTypedAt: async () => typedByPersonAt,
  } as unknown as Runtime;
  return createDelivery({
    ...ground.parts,
    ledger: {
      ...ground.ledger,
      settle: async (message, outcome, event, detail) => {
        if (outcome === "leased" && failsToLease !== null) throw failsToLease;
        await ground.ledger.settle(message, outcome, event, detail);
      },
    },
    receipts: ground.receipts,
    adapters: { agent: () => agent, runtime: () => runtime },
    attention: {
      channel: () => channel,
      describeChannel: () => null,
      look: async () => onScreen,
      standing: async () => ({ state: "absent" }),
      isCaughtUp: () => true,
      secrets: { known: () => null, learn: async () => null },
    },
    composer: async () => null,
    typingPauseMs: 3_000,
    parkedWhy: () => null,
    pokeLater: (_sessionId, ms) => void pokes.push(ms),
  });
}

async function overProtocol(): Promise<void> {
  await ground.dispose();
  const watch = { mode: "app-server", text: "", version: null, socket: "/socket", statusDir: null, capture: null };
  ground = await makeGround(agent, { watch }, undefined, clock);
  delivery = deliver();
}

/** What is said over it, each with the state of message m at that moment. */
function openChannel(): readonly unknown[] {
  const spoken: unknown[] = [];
  channel = {
    send: async (text: string, how: string) => {
      spoken.push([text, how, stateOf("m")]);
      await read({ turn: { phase: "started", id: "t" } });
      return "the protocol took it";
    },
  } as unknown as Channel;
  return spoken;
}

async function nextDaemon(): Promise<void> {
  ground = await ground.restart();
  delivery = deliver();
}

const send = (id: string, how: Message["how"] = "queue"): Promise<void> =>
  ground.ledger.admit({
    id,
    sessionId: "s",
    text: `text of ${id}`,
    submit: true,
    how,
    caller: "operator",
    state: "admitted",
    admittedAt: clock.now(),
    settled: null,
    detail: null,
  });
const read = (reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", ...reading });
const next = (): Task | null => delivery.nextTask(ground.session());
const perform = async (): Promise<void> => next()?.perform(new AbortController().signal);
const stateOf = (id: string): Message["state"] | undefined => ground.store.mailbox.get(id)?.state;

describe("delivery", () => {
  test("leases before the first key, and tells what came of it", async () => {
    await send("m");
    await perform();
    expect(typed).toEqual([{ steps: [{ type: "paste", text: "text of m" }], state: "leased" }]);
    expect(stateOf("m")).toBe("delivered");
    expect(ground.events("message-delivered")).toMatchObject([{ messageId: "m" }]);
    expect(next()).toBeNull();
  });

  test("a key that was pressed in the future tells that the clock was set back, and holds nothing back", async () => {
    typedByPersonAt = clock.now() + 3_600_000;
    await send("m");
    await perform();
    expect(stateOf("m")).toBe("delivered");
  });

  test("in order, and with a pause after one that nothing confirmed", async () => {
    await send("m");
    await send("n");
    await perform();
    expect([next(), pokes]).toEqual([null, [2_000]]);
    await clock.advance(2_000);
    expect(next()?.key).toBe("send n");
  });

  test.each<[string, Error, Message["state"]]>([
    ["may have been typed is unknown", new Error("the pipe broke"), "unknown"],
    [
      "cannot be typed is refused",
      new ReeveError({ code: "too-long", kind: "usage", message: "Too long." }),
      "refused",
    ],
    [
      "was not typed waits again",
      new ReeveError({ code: "runtime-unreachable", kind: "unavailable", message: "Nobody there." }),
      "admitted",
    ],
  ])("one that %s", async (_what, error, state) => {
    fails = error;
    await send("m");
    await perform().catch(() => undefined);
    expect([typed.length, stateOf("m")]).toEqual([1, state]);
  });

  test("nothing is typed between a person's keys, nor on a question that only the screen tells of", async () => {
    await send("m");
    typedByPersonAt = clock.now() - 2_999;
    await perform();
    expect(delivery.obstacle(ground.session())).toEqual({ messageId: "m", why: "somebody is typing in its terminal" });
    expect([next(), pokes]).toEqual([null, [1_000]]);
    await clock.advance(1_000);
    onScreen = { source: "screen", detail: "a rule", activity: "awaiting-approval" };
    await perform();
    expect(delivery.obstacle(ground.session())?.why).toBe("a question is on its screen");
    expect(typed).toEqual([]);
    await clock.advance(1_000);
    onScreen = null;
    await perform();
    expect([stateOf("m"), delivery.obstacle(ground.session())]).toEqual(["delivered", null]);
  });

  test("a key of this very second is one: its runtime tells only the end of that second", async () => {
    await send("m");
    typedByPersonAt = clock.now() + 900;
    await perform();
    expect([typed, delivery.obstacle(ground.session())?.why]).toEqual([[], "somebody is typing in its terminal"]);
  });

  test("what was sent while it asked is the answer, also for the daemon after this one", async () => {
    await read({ turn: { phase: "started", id: "t" } });
    await send("early");
    await read({ activity: "awaiting-input", asks: "Which?" });
    expect(next()).toBeNull();
    await send("m");
    expect(next()?.key).toBe("send m");
    await nextDaemon();
    expect(next()?.key).toBe("send m");
    await perform();
    expect(next()).toBeNull();
    expect([stateOf("m"), stateOf("early")]).toEqual(["delivered", "admitted"]);
  });

  test("an interrupt stops the turn it was sent in, also by the daemon after this one, and no later turn", async () => {
    await read({ turn: { phase: "started", id: "t" } });
    await send("m", "interrupt");
    await nextDaemon();
    expect(next()?.key).toBe("interrupt m");
    await nextDaemon();
    await read({ turn: { phase: "completed", id: "t" } });
    await read({ turn: { phase: "started", id: "u" } });
    expect(next()).toBeNull();
    await nextDaemon();
    expect(next()).toBeNull();
    await read({ turn: { phase: "completed", id: "u" } });
    expect(next()?.key).toBe("send m");
  });

  test("an interrupt that came while nothing was under way stops no turn that a person begins later", async () => {
    typedByPersonAt = clock.now();
    await send("m", "interrupt");
    await clock.advance(1_000);
    await read({ turn: { phase: "started", id: "by hand" } });
    expect(next()).toBeNull();
    await read({ turn: { phase: "interrupted", id: "by hand" } });
    const [told] = ground.events("turn-interrupted");
    expect([told?.turn, told?.askedBy, told?.messageId]).toEqual([1, undefined, undefined]);
  });

  test("an interrupt stops the turn of the message that was being typed when it came", async () => {
    await send("first");
    const first = ground.store.mailbox.get("first");
    if (first !== undefined) await ground.ledger.settle(first, "leased", null, null);
    await send("m", "interrupt");
    await clock.advance(1_000);
    await read({ turn: { phase: "started", id: "t" } });
    if (first !== undefined) await ground.ledger.settle(first, "delivered", null, null);
    expect(next()?.key).toBe("interrupt m");
  });

  test("an interrupt is pressed once, and again only after a while", async () => {
    await read({ turn: { phase: "started", id: "t" } });
    await send("m", "interrupt");
    const pressed = perform();
    await clock.advance(2_500);
    await pressed;
    expect(typed.map(({ steps }) => steps)).toEqual([[{ type: "key", key: "Escape" }]]);
    expect([next(), pokes]).toEqual([null, [2_500]]);
    await clock.advance(2_500);
    expect(next()?.key).toBe("interrupt m");
  });

  test("one that was being typed when the daemon died is not typed again", async () => {
    await send("m");
    const message = ground.store.mailbox.get("m");
    if (message !== undefined) await ground.ledger.settle(message, "leased", null, null);
    await nextDaemon();
    await delivery.resume();
    expect(next()?.key).toBe("recover m");
    const recovered = perform();
    await clock.advance(1_000);
    await recovered;
    expect([typed, stateOf("m")]).toEqual([[], "unknown"]);
  });

  test("what a session that ended cannot take is refused", async () => {
    await send("m");
    const evidence = { source: "runtime", detail: "gone", at: 1 } as const;
    await ground.apply({ type: "found-exited", incarnation: 1, code: 0, signal: null, evidence });
    await perform();
    expect(ground.events("message-refused")).toMatchObject([{ messageId: "m", reason: { code: "session-ended" } }]);
  });

  test("over its own protocol, once it is open", async () => {
    await overProtocol();
    await send("m");
    expect([next(), pokes]).toEqual([null, [250]]);
    expect(delivery.obstacle(ground.session())?.why).toBe("its own protocol is not open");
    const spoken = openChannel();
    await perform();
    expect([spoken, typed, stateOf("m")]).toEqual([[["text of m", "turn", "leased"]], [], "delivered"]);
  });

  test.each([
    ["typed", async () => undefined],
    ["over its own protocol", overProtocol],
  ])("one whose lease could not be recorded was never sent, and waits again: %s", async (_how, prepare) => {
    await prepare();
    const spoken = openChannel();
    await send("m");
    failsToLease = new Error("database or disk is full");
    await expect(perform()).rejects.toThrow("disk is full");
    expect([spoken, typed, stateOf("m")]).toEqual([[], [], "admitted"]);
    failsToLease = null;
    await perform();
    expect(stateOf("m")).toBe("delivered");
  });

  test("an interrupt is not pressed on a question that only the screen tells of", async () => {
    await read({ turn: { phase: "started", id: "t" } });
    await send("m", "interrupt");
    onScreen = { source: "screen", detail: "a rule", activity: "awaiting-approval" };
    await perform();
    expect([typed, delivery.obstacle(ground.session())?.why]).toEqual([[], "a question is on its screen"]);
  });
});
