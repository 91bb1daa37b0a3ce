import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { EventBody, EventType, LoggedEvent } from "../session/event.ts";
import type { NewEvent } from "./contract.ts";
import { selectAfter, selectBefore } from "./event-rows.ts";
import { Sqlite } from "./sqlite.ts";
import { makeHome, STARTED, type TestHome } from "./store-fixture.ts";

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const admitted = (messageId: string): EventBody => ({ type: "message-admitted", messageId, bytes: 1 });
const STOPPED = { type: "daemon-stopped", pid: 1 } as const;
const TYPES: readonly EventType[] = ["message-admitted"];
const noise = (sessionId: string, count: number): NewEvent[] =>
  Array.from({ length: count }, () => ({ sessionId, body: STARTED }));

test("the newest event of a type that fits: in memory, in the database, however far back, or none", async () => {
  const store = await home.open();
  await store.commit({ events: [{ sessionId: "a", body: admitted("old") }] });
  await store.commit({
    events: [
      { sessionId: "a", body: admitted("m") },
      { sessionId: "b", body: admitted("other") },
    ],
  });
  const newest = async (sessionId: string, fits?: (body: EventBody) => boolean, from = store) =>
    (await from.log.latest({ sessionId, types: TYPES, ...(fits && { fits }) }))?.body;
  const isOld = (body: EventBody): boolean => body.type === "message-admitted" && body.messageId === "old";
  expect(await newest("a")).toEqual(admitted("m"));
  // More than is held in memory.
  for (let batch = 0; batch < 3; batch++) await store.commit({ events: noise("a", 1_000) });
  expect(await newest("a")).toEqual(admitted("m"));
  expect(await newest("a", isOld)).toEqual(admitted("old"));
  expect(await newest("b")).toEqual(admitted("other"));
  expect(await newest("c")).toBeUndefined();
  const before = async (seq: number) => (await store.log.latest({ sessionId: "a", types: TYPES, before: seq }))?.body;
  expect(await Promise.all([1, 2, 3, 2_000].map(before))).toEqual([
    undefined,
    admitted("old"),
    admitted("m"),
    admitted("m"),
  ]);
  // More of the type than is looked at in one page.
  await store.commit({ events: Array.from({ length: 100 }, () => ({ sessionId: "a", body: admitted("new") })) });
  for (let batch = 0; batch < 3; batch++) await store.commit({ events: noise("a", 1_000) });
  expect(await newest("a", isOld)).toEqual(admitted("old"));
  expect(await newest("a", () => false)).toBeUndefined();
  await store.close();
  const again = await home.open();
  expect([await newest("a", undefined, again), await newest("a", isOld, again)]).toEqual([
    admitted("new"),
    admitted("old"),
  ]);
});

describe("events by type", () => {
  test("memory and database answer alike at every cursor", async () => {
    const store = await home.open();
    const bodies = [STARTED, STOPPED, admitted("m")];
    for (let turn = 0; turn < 36; turn += 1)
      await store.commit({
        events: Array.from({ length: 100 }, (_, index) => ({
          sessionId: index % 3 === 0 ? null : `s-${index % 3}`,
          body: bodies[(index + turn) % 7] ?? STARTED,
        })),
      });
    const all = await store.log.read({ after: 0, limit: 10_000 });
    for (const after of [0, 1_000, 2_599, 2_600, 2_601, 3_500, 3_599, 3_600]) {
      for (const types of [["daemon-stopped"], ["message-admitted", "daemon-stopped"], ["turn-started"], []] as const) {
        for (const sessionIds of [undefined, ["s-1"], ["s-1", "s-2"]]) {
          const isWanted = ({ seq, sessionId, body }: LoggedEvent): boolean =>
            seq > after &&
            types.some((type) => type === body.type) &&
            (sessionIds === undefined || sessionIds.some((id) => id === sessionId));
          const query = { after, limit: 7, types, ...(sessionIds && { sessionIds }) };
          expect([query, await store.log.read(query)]).toEqual([query, all.filter(isWanted).slice(0, 7)]);
        }
      }
    }
  });

  test.each([
    ["of a type", { types: TYPES }, "events_by_type"],
    ["of a type of a session", { types: TYPES, sessionIds: ["a"] }, "events_by_session_type"],
    ["of a session", { sessionIds: ["a"] }, "events_by_session"],
    ["of a caller", { caller: "operator" as const }, "events_by_caller"],
    ["all", {}, "INTEGER PRIMARY KEY"],
  ])("%s are found by their index, in its order", async (_what, query, index) => {
    await (await home.open()).close();
    const db = Sqlite.open(home.databasePath);
    expect(selectAfter(explained(db), { after: 5, limit: 7, ...query }, true)).toEqual([searches(index)]);
    db.close();
  });

  test("the newest of a session's type is found by its index", async () => {
    await (await home.open()).close();
    const db = Sqlite.open(home.databasePath);
    const query = { before: 5, limit: 7, sessionId: "a", types: TYPES };
    expect(selectBefore(explained(db), query, true)).toEqual([searches("events_by_session_type")]);
    db.close();
  });

  test("who asked is kept with an event, and null where nobody did", async () => {
    const store = await home.open();
    const [asked, not] = await store.commit({
      events: [
        { sessionId: "a", caller: "session:b", body: STARTED },
        { sessionId: "a", body: STARTED },
      ],
    });
    expect([asked?.caller, not?.caller]).toEqual(["session:b", null]);
    await store.close();
    const again = await home.open();
    expect(await again.log.read({ after: 0, limit: 9 })).toEqual([asked, not]);
    const [next] = await again.commit({ events: [{ sessionId: null, caller: "session:b", body: STARTED }] });
    expect(await again.log.read({ after: 0, limit: 9, caller: "session:b" })).toEqual([asked, next]);
    expect(await again.log.read({ after: 2, limit: 9, caller: "session:b" })).toEqual([next]);
    expect(await again.log.read({ after: 2, limit: 9, caller: "operator" })).toEqual([]);
  });
});

/** Answers each statement with how SQLite would run it. */
function explained(db: Sqlite): Pick<Sqlite, "all"> {
  return {
    all: <Row>(sql: string, ...values: Parameters<Sqlite["all"]>[1][]) =>
      db.all<Row>(`EXPLAIN QUERY PLAN ${sql}`, ...values),
  };
}

/** One step: no scan, and no sorting after it. */
function searches(index: string): unknown {
  return expect.objectContaining({
    detail: expect.stringMatching(new RegExp(`^SEARCH events USING (INDEX )?${index} \\(`)) as string,
  });
}
