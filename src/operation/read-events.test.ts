/** A stream of the log, of which each reading takes time, sends everything once and in order. */
import { afterEach, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { type Caller, OPERATOR } from "../session/caller.ts";
import { putSession } from "../store/change.ts";
import type { EventLog, Store } from "../store/contract.ts";
import { makeSession, STARTED } from "../store/store-fixture.ts";
import { type DoorGround, makeDoorGround } from "./door-fixture.ts";
import { readEvents } from "./read-events.ts";

let ground: DoorGround;
afterEach(() => ground.dispose());

/** The real log, with something that happens before or after each time it is read. */
function slow(
  store: Store,
  read: (reading: number, real: () => ReturnType<EventLog["read"]>) => ReturnType<EventLog["read"]>,
): Store {
  const { log } = store;
  let readings = 0;
  const slowLog: EventLog = {
    head: () => log.head(),
    prunedThrough: () => log.prunedThrough(),
    places: (query) => log.places(query),
    newestFrom: (sessionId, newest) => log.newestFrom(sessionId, newest),
    follow: (...listening) => log.follow(...listening),
    latest: (query) => log.latest(query),
    read: (query) => read((readings += 1), () => log.read(query)),
  };
  return { ...store, log: slowLog };
}

const commit = (sessionId: string | null) => ground.store.commit({ events: [{ sessionId, body: STARTED }] });

async function idsUntil(last: number, caller: Caller): Promise<readonly number[]> {
  const ids: number[] = [];
  for await (const page of ground.door.stream(readEvents, {}, caller, ground.call)) {
    ids.push(...page.map(({ id }) => id));
    if ((ids.at(-1) ?? 0) >= last) break;
  }
  return ids;
}

test("what is committed behind a page that was read already", async () => {
  const seen = (store: Store): Store =>
    slow(store, async (reading, real) => {
      const events = await real();
      if (reading <= 20) await commit(null);
      return events;
    });
  ground = await makeDoorGround([], { seen });
  expect(await idsUntil(20, OPERATOR)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
});

test("a session that its caller may see only since the log was asked for", async () => {
  const seen = (store: Store): Store =>
    slow(store, async (reading, real) => {
      if (reading === 1) {
        const child = makeSession(ground.home, "child", { identity: { parentId: "boss", name: "child" } });
        await store.commit({ changes: [putSession(child)], events: [{ sessionId: "child", body: STARTED }] });
        await commit("boss");
      }
      return await real();
    });
  ground = await makeDoorGround([], { seen });
  await commit("boss");
  expect(await idsUntil(3, { kind: "session", id: "boss" })).toEqual([1, 2, 3]);
});

test.each([
  ["everything", () => true],
  ["what comes while its reader is busy", (sent: number) => sent % 3 === 0],
  ["nothing", () => false],
])("whatever is not sent directly, such as %s, is in the next page", async (_, isBusy) => {
  ground = await makeDoorGround();
  const over = new AbortController();
  const ids: number[] = [];
  const direct = (items: readonly { readonly id: number }[]): boolean => {
    if (isBusy(ids.length)) return false;
    ids.push(...items.map(({ id }) => id));
    return true;
  };
  const reading = (async () => {
    for await (const page of ground.door.stream(readEvents, {}, OPERATOR, { signal: over.signal, direct }))
      ids.push(...page.map(({ id }) => id));
  })();
  for (let round = 1; round <= 20; round++) {
    // Several in one page, or one after the other, with or without a moment for the reader.
    await Promise.all(Array.from({ length: round % 4 }, () => commit(null)));
    if (round % 3 === 0) await new Promise(setImmediate);
  }
  const last = ground.store.log.head();
  await eventually("it has all of them", () => ids.at(-1) === last);
  over.abort();
  await reading;
  expect(ids).toEqual(Array.from({ length: last }, (_unused, index) => index + 1));
});

test("a reader that has everything gets an event before whoever made it knows that it is kept", async () => {
  ground = await makeDoorGround();
  const over = new AbortController();
  const heard: string[] = [];
  const direct = (items: readonly { readonly type: string }[]): boolean =>
    heard.push(...items.map(({ type }) => type)) > 0;
  const pages = ground.door.stream(readEvents, {}, OPERATOR, { signal: over.signal, direct })[Symbol.asyncIterator]();
  await commit(null);
  expect((await pages.next()).value).toHaveLength(1);
  const next = pages.next();
  await new Promise(setImmediate);
  await commit(null).then(() => heard.push("kept"));
  expect(heard).toEqual([STARTED.type, "kept"]);
  over.abort();
  expect((await next).done).toBe(true);
});
