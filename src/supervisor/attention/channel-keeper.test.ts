import { amend } from "../../session/amend.ts";
import { afterEach, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { Channel, ChannelContext } from "../../agent/contract.ts";
import type { Clock } from "../../platform/clock.ts";
import { systemClock } from "../../platform/clock.ts";
import type { TurnReading } from "../../session/reading.ts";
import { createChannelKeeper, type ChannelKeeper } from "./channel-keeper.ts";
import { agentWith, type Ground, makeGround } from "./watch-fixture.ts";

interface Opened extends ChannelContext {
  readonly channel: Channel;
  isClosed: boolean;
}

let ground: Ground;
let keeper: ChannelKeeper;
let opened: Opened[];
let lack: string | null = null;
afterEach(() => ground.dispose());

/** An agent whose protocol is an object in this process; `refuse` says how often it does not answer at first. */
async function keep(
  options: { readonly refuse?: number; readonly socket?: string | null; readonly clock?: Clock } = {},
): Promise<void> {
  opened = [];
  let refusals = options.refuse ?? 0;
  const agent = agentWith({
    openChannel: async (context) => {
      if (refusals-- > 0) throw new Error(`nobody listens at ${context.socket}`);
      const entry: Opened = {
        ...context,
        isClosed: false,
        channel: {
          send: async () => "sent",
          interrupt: async () => "interrupted",
          answer: async () => "answered",
          ping: async () => undefined,
          lacks: () => lack,
          close: () => void (entry.isClosed = true),
        },
      };
      opened.push(entry);
      return entry.channel;
    },
  });
  const socket = options.socket === undefined ? "/run/x.sock" : options.socket;
  const watch = { mode: "protocol", text: "", version: null, socket, statusDir: null, capture: null };
  ground = await makeGround(agent, { watch: { ...watch }, conversation: { nativeId: "n-1" } });
  keeper = ground.use(createChannelKeeper({ ...ground.parts, clock: options.clock ?? systemClock }));
}

const isOpen = (count: number): Promise<unknown> =>
  eventually(`channel ${count} is open`, () => opened.length === count && keeper.get("s") !== null);
const say = (entry: Opened | undefined, turn: TurnReading): void =>
  entry?.onReading({ source: "protocol", detail: "message", turn });

test("is opened once, with what is known of the session", async () => {
  await keep();
  await isOpen(1);
  await ground.readings.take(ground.session(), { source: "hook", detail: "x", activity: "working" });
  expect(opened).toHaveLength(1);
  expect(opened[0]).toMatchObject({ socket: "/run/x.sock", nativeId: "n-1" });
  expect(keeper.get("s")).toBe(opened[0]?.channel);
  expect([keeper.describe("s"), keeper.describe("other"), keeper.get("other")]).toEqual(["open", null, null]);
});

test("one that cannot tell everything says so", async () => {
  await keep();
  await isOpen(1);
  lack = "missing source rollout";
  expect(keeper.describe("s")).toBe("open, but only in part: missing source rollout");
  lack = null;
  expect(keeper.describe("s")).toBe("open");
});

test("readings are committed in the order they came", async () => {
  await keep();
  await isOpen(1);
  for (let turn = 0; turn < 50; turn++) {
    say(opened[0], { phase: "started", id: `t${turn}` });
    say(opened[0], { phase: "completed", id: `t${turn}` });
  }
  await eventually(
    "all of it is committed",
    () => ground.session().conversation.turns === 50 && !ground.session().conversation.turnOpen,
  );
  const told = ground.events("turn-started", "turn-completed", "turn-interrupted");
  expect(told.map(({ type, turn }) => `${type} ${turn}`)).toEqual(
    Array.from({ length: 50 }, (_, turn) => [`turn-started ${turn + 1}`, `turn-completed ${turn + 1}`]).flat(),
  );
});

test("one that closed is opened again, and what it said before counts", async () => {
  await keep();
  await isOpen(1);
  say(opened[0], { phase: "started", id: "a" });
  opened[0]?.onClose("the agent closed it");
  await isOpen(2);
  expect(opened[0]?.isClosed).toBe(true);
  expect(keeper.get("s")).toBe(opened[1]?.channel);
  say(opened[1], { phase: "completed", id: "a" });
  await eventually("the turn is over", () => ground.events("turn-completed").length === 1);
  expect(ground.session().conversation.turns).toBe(1);
});

test("one that does not answer yet is tried again, and says why meanwhile", async () => {
  await keep({ refuse: 3 });
  await eventually("it says why", () => keeper.describe("s") === "not open: nobody listens at /run/x.sock");
  expect(keeper.get("s")).toBeNull();
  await isOpen(1);
});

test("the end of the session closes it, for good, and what it said before counts", async () => {
  await keep();
  await isOpen(1);
  say(opened[0], { phase: "started", id: "a" });
  await eventually("it is committed", () => ground.session().conversation.turns === 1);
  await ground.apply({
    type: "found-exited",
    incarnation: 1,
    code: 0,
    signal: null,
    evidence: { source: "runtime", detail: "gone", at: 1 },
  });
  say(opened[0], { phase: "completed", id: "a" });
  await keeper.leave(ground.session());
  expect([opened[0]?.isClosed, keeper.get("s"), keeper.describe("s")]).toEqual([true, null, null]);
  expect(ground.events("turn-completed")).toHaveLength(1);
  opened[0]?.onClose("twice");
  await ground.ledger.idle();
  expect(opened).toHaveLength(1);
});

test("closing closes it", async () => {
  await keep();
  await isOpen(1);
  await keeper.close();
  expect([opened[0]?.isClosed, keeper.get("s")]).toEqual([true, null]);
});

describe("how a turn ended, read from history", () => {
  const past = (entry: Opened | undefined, turn: TurnReading): void =>
    entry?.onReading({ source: "protocol", detail: "thread/resume, last turn", turn, isHistory: true });
  const line = (turn: TurnReading): Promise<void> =>
    ground.readings.take(ground.session(), { source: "transcript", detail: "task_complete line", turn });
  const told = (): readonly string[] =>
    ground
      .events("turn-completed", "turn-interrupted", "turn-failed", "turn-corrected", "turn-disputed")
      .map(({ type, turn }) => `${type} ${turn}`);
  /** The channel's own clock stands still until it is told how long is over. */
  let pass: () => void;

  async function keepInTurn(): Promise<void> {
    const { promise: isOver, resolve } = Promise.withResolvers<void>();
    pass = resolve;
    await keep({ clock: { ...systemClock, sleep: (ms) => (ms >= 5_000 ? isOver : systemClock.sleep(ms)) } });
    await isOpen(1);
    say(opened[0], { phase: "started", id: "a" });
    await eventually("the turn is under way", () => ground.session().conversation.turnOpen);
  }

  test("an interruption waits for the transcript's own line, which counts", async () => {
    await keepInTurn();
    past(opened[0], { phase: "interrupted", id: "a" });
    await line({ phase: "completed", id: "a" });
    expect(told()).toEqual(["turn-completed 1"]);
    pass();
    say(opened[0], { phase: "started", id: "b" });
    await eventually("the next turn is under way", () => ground.session().conversation.turns === 2);
    expect(told()).toEqual(["turn-completed 1"]);
  });

  test("an interruption that nobody else tells of counts after a while", async () => {
    await keepInTurn();
    past(opened[0], { phase: "interrupted", id: "a" });
    await ground.ledger.idle();
    expect([told(), ground.session().conversation.turnOpen]).toEqual([[], true]);
    pass();
    await eventually("the turn is over", () => !ground.session().conversation.turnOpen);
    expect(told()).toEqual(["turn-interrupted 1"]);
    await line({ phase: "completed", id: "a" });
    expect(told()).toEqual(["turn-interrupted 1", "turn-corrected 1"]);
  });

  test("the end of a later turn does not make an interruption of the one whose end is about to be read", async () => {
    await keepInTurn();
    past(opened[0], { phase: "completed", id: "b" });
    await line({ phase: "completed", id: "a" });
    await line({ phase: "started", id: "b" });
    await line({ phase: "completed", id: "b" });
    pass();
    say(opened[0], { phase: "started", id: "c" });
    await eventually("the next turn is under way", () => ground.session().conversation.turns === 3);
    expect(told()).toEqual(["turn-completed 1", "turn-completed 2"]);
  });

  test("an end without a name is not that of a turn that began after it was told", async () => {
    await keepInTurn();
    await line({ phase: "completed", id: "a" });
    past(opened[0], { phase: "completed" });
    await line({ phase: "started", id: "b", at: Date.now() + 1 });
    pass();
    await eventually("it was weighed", () =>
      ground.readings
        .lastWords(ground.session())
        .some(
          ({ source, weight }) => source === "protocol" && weight.startsWith("ignored: it is about an earlier turn"),
        ),
    );
    expect([told(), ground.session().conversation.turnOpen]).toEqual([["turn-completed 1"], true]);
  });

  test("that the turn under way was completed counts at once", async () => {
    await keepInTurn();
    past(opened[0], { phase: "completed", id: "a" });
    await eventually("the turn is over", () => !ground.session().conversation.turnOpen);
    expect(told()).toEqual(["turn-completed 1"]);
  });
});

test("the next incarnation gets a channel of its own", async () => {
  await keep();
  await isOpen(1);
  keeper.attend(amend(ground.session(), { process: { incarnation: 2 } }));
  await isOpen(2);
  expect(opened[0]?.isClosed).toBe(true);
});

test("a session without one is left alone", async () => {
  await keep({ socket: null });
  await ground.readings.take(ground.session(), { source: "hook", detail: "x", activity: "working" });
  expect([opened, keeper.describe("s")]).toEqual([[], null]);
});
