/** Reading the log takes time, and whatever is committed in that time is neither missed nor half seen. */
import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../platform/clock.ts";
import { promptPrint } from "../session/prompt-print.ts";
import type { Reading } from "../session/reading.ts";
import type { EventLog, Store } from "../store/contract.ts";
import { makeMessage } from "../store/store-fixture.ts";
import { agentWith, type Ground, makeGround } from "../supervisor/attention/watch-fixture.ts";
import { firstEvent } from "./waiter.ts";
import { waitOn } from "./waiter.ts";

let ground: Ground;
beforeEach(async () => {
  ground = await makeGround(agentWith({}));
  await say("m1", "1");
});
afterEach(() => ground.dispose());

const take = (reading: Partial<Reading>): Promise<void> =>
  ground.readings.take(ground.session(), { source: "hook", detail: "a hook", ...reading });
const end = (): Promise<void> => take({ activity: "idle", turn: { phase: "completed", id: "1" } });
const end2 = (): Promise<void> => take({ activity: "idle", turn: { phase: "completed", id: "2" } });

/** A message that a turn took, which is under way. */
async function say(messageId: string, turn: string): Promise<void> {
  const message = makeMessage("s", messageId, { text: messageId });
  await ground.ledger.admit(message);
  await ground.ledger.settle({ ...message, position: 1 }, "leased", null, null);
  const print = promptPrint(messageId);
  const { turns } = ground.session().conversation;
  ground.receipts.expect("s", {
    messageId,
    incarnation: 1,
    turnsBefore: turns,
    isSteered: false,
    done: "typed",
    print,
  });
  await take({ activity: "working", turn: { phase: "started", id: turn, prompt: messageId } });
}

/** The real store, of which each reading of the log is answered only after `meanwhile`: it knows nothing of that. */
function slow(meanwhile: (reading: number) => Promise<void>): Store {
  let readings = 0;
  const late = async <T>(answer: Promise<T>): Promise<T> => {
    const read = await answer;
    await meanwhile((readings += 1));
    return read;
  };
  const { log } = ground.store;
  const slowLog: EventLog = {
    head: () => log.head(),
    prunedThrough: () => log.prunedThrough(),
    places: (query) => log.places(query),
    newestFrom: (sessionId, newest) => log.newestFrom(sessionId, newest),
    follow: (...listening) => log.follow(...listening),
    read: (query) => late(log.read(query)),
    latest: (query) => late(log.latest(query)),
  };
  return { ...ground.store, log: slowLog };
}

function waitFor(store: Store, since?: number, signal = new AbortController().signal, timeoutMs = 20_000) {
  return waitOn({ store, clock: systemClock, signal }, new Set(["s"]), {
    since,
    wanted: new Set(),
    timeoutMs,
    isEnough: (waiters) => waiters.every((waiter) => waiter.found() !== null),
  });
}

const seqOf = async (type: "turn-completed" | "message-admitted"): Promise<number | undefined> =>
  (await ground.store.log.latest({ sessionId: "s", types: [type] }))?.seq;

const NO_READING = 0;

test.each([NO_READING, 1, 2])(
  "the end of a turn is told that was committed during reading %i of the log",
  async (at) => {
    const waiting = waitFor(slow(async (reading) => void (reading === at && (await end()))));
    if (at === NO_READING) await end();
    const [watch] = await waiting;
    expect(watch?.found()).toMatchObject({
      reason: "turn-completed",
      isDone: true,
      ok: true,
      why: null,
      seq: await seqOf("turn-completed"),
    });
  },
);

test.each([1, 2])("one that is committed beside reading %i, with other changes before and after", async (at) => {
  const noise = async (): Promise<void> => {
    await ground.store.commit({
      events: [{ sessionId: "other", body: { type: "message-admitted", messageId: "x", bytes: 1 } }],
    });
  };
  const [watch] = await waitFor(
    slow(async (reading) => {
      if (reading > 5) return;
      await noise();
      if (reading === at) await end();
      await noise();
    }),
    1,
  );
  expect(watch?.found()).toMatchObject({ reason: "turn-completed", ok: true, seq: await seqOf("turn-completed") });
});

test("the record is not believed before the log has been read that far: a later turn does not hide the end of this one", async () => {
  const [watch] = await waitFor(
    slow(async (reading) => {
      if (reading !== 2) return;
      await end();
      await say("m2", "2");
      await end2();
    }),
    await seqOf("message-admitted"),
  );
  const ends = ground.events("turn-completed");
  expect(ends.map(({ turn }) => turn)).toEqual([1, 2]);
  const [first] = await ground.store.log.read({ after: 0, limit: 1, types: ["turn-completed"] });
  expect(watch?.found()).toMatchObject({ reason: "turn-completed", isDone: true, ok: true, seq: first?.seq });
});

test("when the time is up it has looked at what came until then, and its cursor loses nothing", async () => {
  const store = slow(async () => undefined);
  const [watch] = await waitFor(store, undefined, new AbortController().signal, 0);
  expect(watch?.found()).toBeNull();
  const cursor = watch?.cursor().sameAsk;
  await end();
  const [again] = await waitFor(store, cursor, new AbortController().signal, 0);
  expect(again?.found()).toMatchObject({ reason: "turn-completed", seq: await seqOf("turn-completed") });
});

test.each([1, 2])(
  "while it is paused the cursor of the answer loses nothing, though %i messages came last",
  async (count) => {
    await ground.apply({ type: "pause", mode: "suspend" });
    for (let index = 0; index < count; index++) await ground.ledger.admit(makeMessage("s", `waits-${index}`));
    const [paused] = await waitFor(ground.store, 2);
    const found = paused?.found();
    expect(found).toMatchObject({ reason: "nothing-to-wait-for", isDone: false });
    await end();
    const [again] = await waitFor(ground.store, found?.seq);
    expect(again?.found()).toMatchObject({ reason: "turn-completed", seq: await seqOf("turn-completed") });
  },
);

test("when the time is up after several messages came, the cursor is about all of them", async () => {
  const [early] = await waitFor(ground.store, 2, new AbortController().signal, 0);
  for (const id of ["m2", "m3"]) await ground.ledger.admit(makeMessage("s", id));
  const [later] = await waitFor(ground.store, early?.cursor().sameAsk, new AbortController().signal, 0);
  const cursor = later?.cursor().sameAsk;
  await end();
  const [again] = await waitFor(ground.store, cursor);
  expect(again?.found()).toMatchObject({ reason: "turn-completed", seq: await seqOf("turn-completed") });
});

test("a caller who went away is waited for no longer, and nothing of the wait is left", async () => {
  const gone = new AbortController();
  const waiting = waitFor(
    slow(async (reading) => void (reading === 2 && gone.abort())),
    undefined,
    gone.signal,
  );
  const [watch] = await waiting;
  expect([watch?.found(), getEventListeners(gone.signal, "abort")]).toEqual([null, []]);
});

test.each([NO_READING, 1, 2])("an answer's outcome is found that was committed during reading %i", async (at) => {
  const store = slow(async (reading) => {
    if (reading === 1)
      await ground.store.commit({
        events: [{ sessionId: "s", body: { type: "message-admitted", messageId: "x", bytes: 1 } }],
      });
    if (reading === at) await end();
  });
  const finding = firstEvent(
    { store, clock: systemClock, signal: new AbortController().signal },
    { sessionId: "s", after: 0, types: ["turn-completed"] },
    () => true,
    20_000,
  );
  if (at === NO_READING) await end();
  expect((await finding)?.seq).toBe(await seqOf("turn-completed"));
});
