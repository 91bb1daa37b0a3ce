import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { LoggedEvent } from "../session/event.ts";
import { admitMessage, putSession, settleMessage } from "./change.ts";
import { Sqlite } from "./sqlite.ts";
import { readStateFile } from "./state-file.ts";
import { makeHome, makeMessage, makeSession, nextRevision, STARTED, type TestHome, momentAt } from "./store-fixture.ts";
import { plainLaunch } from "../session/plain-launch.ts";

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

describe("round trips", () => {
  test("everything committed comes back equal after reopening", async () => {
    const store = await home.open();
    const first = makeSession(home, "a", {
      identity: {
        name: "twin",
        launch: plainLaunch("/", { args: ["\ud800", "\0", "'\n"], prompt: "p" }),
      },
    });
    const second = makeSession(home, "b", { identity: { name: "twin" } });
    const idempotency = { key: "k", operation: "start-session", fingerprint: "f", subject: "a", at: Date.now() };
    const events = await store.commit({
      changes: [putSession(first)],
      events: [
        { sessionId: "a", body: STARTED },
        { sessionId: null, body: STARTED },
      ],
      idempotency,
    });
    const renamed = nextRevision(first, { identity: { name: "renamed" } });
    await store.commit({
      changes: [putSession(renamed), admitMessage(makeMessage("a", "m1", { text: "\ud800\0 text" }))],
    });
    await store.commit({ changes: [putSession(second)] });
    await store.commit({ changes: [admitMessage(makeMessage("a", "m2"))] });
    await store.commit({
      changes: [settleMessage({ messageId: "m1", state: "leased", detail: null, moment: momentAt(5) })],
    });
    const snapshot = async (from: typeof store) => ({
      all: from.registry.all(),
      twin: from.registry.byName("twin"),
      renamed: from.registry.byName("renamed"),
      open: from.mailbox.open("a"),
      typed: from.mailbox.typed("a", 9),
      events: await from.log.read({ after: 0, limit: 10 }),
      key: from.idempotency("k"),
      head: from.log.head(),
      instance: from.instance,
    });
    const before = await snapshot(store);
    expect(before).toEqual({
      all: [renamed, second],
      twin: [second],
      renamed: [renamed],
      open: [
        { ...makeMessage("a", "m1", { text: "\ud800\0 text", state: "leased" }), position: 1 },
        { ...makeMessage("a", "m2"), position: 2 },
      ],
      typed: [{ ...makeMessage("a", "m1", { text: "\ud800\0 text", state: "leased" }), position: 1 }],
      events,
      key: idempotency,
      head: 2,
      instance: expect.stringMatching(/^[a-z0-9]{8,16}$/),
    });
    await store.close();
    const again = await home.open();
    expect(await snapshot(again)).toEqual(before);
    expect(again.repairs).toEqual([]);
  });

  test("a session renamed before it was ever read is found by its new name only", async () => {
    const session = makeSession(home, "a", { identity: { name: "old" } });
    await home
      .open()
      .then(async (store) => (await store.commit({ changes: [putSession(session)] }), await store.close()));
    const store = await home.open();
    const renamed = nextRevision(session, { identity: { name: "new" } });
    const commit = store.commit({ changes: [putSession(renamed)] });
    await commit;
    expect([store.registry.byName("old"), store.registry.byName("new")]).toEqual([[], [renamed]]);
  });

  test("rows are frozen and the list is the same until something changes", async () => {
    const store = await home.open();
    await store.commit({ changes: [putSession(makeSession(home, "a"))] });
    const list = store.registry.all();
    expect(store.registry.all()).toBe(list);
    expect([Object.isFrozen(list), Object.isFrozen(list[0]), Object.isFrozen(list[0]?.identity.launch.args)]).toEqual([
      true,
      true,
      true,
    ]);
    await store.commit({ changes: [putSession(makeSession(home, "b"))] });
    expect([list.length, store.registry.all().length]).toEqual([1, 2]);
  });

  test("files are private", async () => {
    const store = await home.open();
    const session = makeSession(home, "a");
    await store.commit({ changes: [putSession(session)] });
    await store.verified;
    const modes = [home.databasePath, `${home.databasePath}-wal`, home.instancePath].map(
      (path) => statSync(path).mode & 0o777,
    );
    await store.close();
    const stateModes = [session.identity.outputsDir, join(session.identity.outputsDir, "state.json")].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect([modes, stateModes]).toEqual([
      [0o600, 0o600, 0o600],
      [0o700, 0o600],
    ]);
  });

  test("state.json follows the last commit once closed", async () => {
    const store = await home.open();
    let session = makeSession(home, "a");
    await store.commit({ changes: [putSession(session)], events: [{ sessionId: "a", body: STARTED }] });
    for (let turns = 1; turns <= 50; turns += 1)
      await store.commit({ changes: [putSession((session = nextRevision(session, { conversation: { turns } })))] });
    await store.close();
    expect(await readStateFile(session.identity.outputsDir)).toEqual({ status: "good", record: { seq: 1, session } });
  });

  test("a state.json that cannot be written is logged, hurts no commit and is written with the next change", async () => {
    const store = await home.open();
    await store.verified;
    const blocked = makeSession(home, "a", { identity: { outputsDir: join(home.directory, "file", "a") } });
    writeFileSync(join(home.directory, "file"), "");
    await store.commit({ changes: [putSession(blocked)] });
    while (home.logged.length === 0) await wait(5);
    const moved = nextRevision(blocked, { identity: { outputsDir: join(home.directory, "free") } });
    await store.commit({ changes: [putSession(moved)] });
    await store.close();
    expect(await readStateFile(moved.identity.outputsDir)).toMatchObject({
      status: "good",
      record: { session: moved },
    });
  });
});

describe("reading the log", () => {
  test("memory and database answer alike at every cursor", async () => {
    const store = await home.open();
    for (let turn = 0; turn < 26; turn += 1) {
      await store.commit({
        events: Array.from({ length: 100 }, (_, index) => ({
          sessionId: index % 3 === 0 ? null : `s-${index % 3}`,
          body: STARTED,
        })),
      });
    }
    await store.close();
    const cold = await home.open();
    const hot: LoggedEvent[] = [];
    cold.log.follow((events) => void hot.push(...events));
    for (let turn = 0; turn < 26; turn += 1)
      await cold.commit({
        events: Array.from({ length: 100 }, (_, index) => ({ sessionId: `s-${index % 2}`, body: STARTED })),
      });
    const all = await cold.log.read({ after: 0, limit: 10_000 });
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 5_200 }, (_, index) => index + 1));
    expect(all.slice(2_600)).toEqual(hot);
    for (const after of [0, 2_599, 2_600, 2_601, 3_000, 3_700, 4_100, 4_199, 4_200, 5_199, 5_200, 9_999]) {
      for (const sessionIds of [undefined, ["s-1"], ["s-0", "s-2"], []]) {
        const wanted = all
          .filter(
            ({ seq, sessionId }) =>
              seq > after && (!sessionIds || (sessionId !== null && sessionIds.includes(sessionId))),
          )
          .slice(0, 7);
        expect(await cold.log.read({ after, limit: 7, ...(sessionIds && { sessionIds }) })).toEqual(wanted);
      }
    }
  });
});

describe("mailbox", () => {
  test("a message goes its way once; only an unknown outcome may still become known", async () => {
    const store = await home.open();
    await store.commit({ changes: [putSession(makeSession(home, "a")), admitMessage(makeMessage("a", "m"))] });
    const settle = (state: "admitted" | "leased" | "delivered" | "unknown", at: number) =>
      store.commit({ changes: [settleMessage({ messageId: "m", state, detail: "seen", moment: momentAt(at) })] });
    await settle("leased", 1);
    expect(store.mailbox.get("m")?.settled).toBeNull();
    await settle("unknown", 2);
    expect(store.mailbox.open("a")).toEqual([]);
    await expect(settle("admitted", 3)).rejects.toMatchObject({ code: "message-not-open" });
    await settle("delivered", 4);
    await expect(settle("delivered", 5)).rejects.toMatchObject({ code: "message-not-open" });
    expect(store.mailbox.get("m")).toEqual({
      ...makeMessage("a", "m", { state: "delivered", settled: momentAt(4), detail: "seen" }),
      position: 1,
    });
    await store.commit({ changes: [admitMessage(makeMessage("a", "n"))] });
    expect(store.mailbox.open("a").map(({ position }) => position)).toEqual([2]);
    await expect(store.commit({ changes: [admitMessage(makeMessage("a", "n"))] })).rejects.toMatchObject({
      code: "change-refused",
    });
  });
});

describe("idempotency", () => {
  test("a key counts for a day, and old ones are dropped along the way", async () => {
    let now = 1_700_000_000_000;
    const store = await home.open({ clock: { ...home.clock, now: () => now } });
    const record = (key: string) => ({ key, operation: "start", fingerprint: "f", subject: "s", at: now });
    for (let index = 0; index < 10; index += 1) await store.commit({ idempotency: record(`k-${index}`) });
    await expect(
      store.commit({ changes: [putSession(makeSession(home, "a"))], idempotency: record("k-0") }),
    ).rejects.toMatchObject({
      code: "idempotency-key-used",
      kind: "conflict",
    });
    expect(store.registry.get("a")).toBeUndefined();
    now += 24 * 3_600_000;
    expect(store.idempotency("k-9")).toBeUndefined();
    await store.commit({ idempotency: record("k-9") });
    for (let index = 0; index < 3; index += 1) await store.commit({ idempotency: record(`n-${index}`) });
    expect(store.idempotency("k-9")).toEqual(record("k-9"));
    await store.close();
    const db = Sqlite.open(home.databasePath);
    expect(db.all<{ key: string }>("SELECT key FROM idempotency ORDER BY key").map(({ key }) => key)).toEqual([
      "k-9",
      "n-0",
      "n-1",
      "n-2",
    ]);
    db.close();
  });
});

test("the instance file is kept in step with the database", async () => {
  const store = await home.open();
  expect(readFileSync(home.instancePath, "utf8")).toBe(`${store.instance}\n`);
  await store.close();
  writeFileSync(home.instancePath, "not an id at all, too long");
  const again = await home.open();
  expect([again.instance, readFileSync(home.instancePath, "utf8")]).toEqual([store.instance, `${store.instance}\n`]);
  expect(again.repairs).toEqual([
    {
      type: "state-file-quarantined",
      path: expect.stringContaining("instance.corrupt-"),
      why: "it does not hold an instance id",
    },
  ]);
});
