/**
 * A new kind of record is its definition and nothing else. The kind
 * of this test, a note on a session, is known to nobody but this file.
 */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changedHome, homeKind } from "../session/home-record.ts";
import { defineKind, type Kept } from "../session/record-kind.ts";
import { admitMessage, type Change, putSession } from "./change.ts";
import type { Store } from "./contract.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { Sqlite } from "./sqlite.ts";
import { makeHome, makeMessage, makeSession, nextRevision, STARTED, type TestHome } from "./store-fixture.ts";

interface Note extends Kept {
  readonly about: string;
  readonly text: string;
}

const noteKind = defineKind<Note>({
  name: "note",
  parse(value) {
    const note = value as Note;
    if (typeof note.text !== "string") throw new Error("it has no text");
    return note;
  },
  groupOf: ({ about }) => about,
});
const otherKind = defineKind<Kept>({ name: "other", parse: (value) => value as Kept });

let home: TestHome;
beforeEach(() => {
  home = makeHome();
});
afterEach(() => home.remove());

const note = (id: string, changes: Partial<Note> = {}): Note => ({
  id,
  revision: 1,
  about: "a",
  text: "x",
  ...changes,
});
const commit = (store: Store, ...changes: readonly Change[]) => store.commit({ changes });
const notes = (store: Store): Promise<readonly Note[]> => store.records(noteKind).list();

describe("a kind of one's own", () => {
  test("is put, changed, found by id and by group, and survives a reopening", async () => {
    const store = await home.open();
    const second = note("2", { about: "b", text: "\ud800\0" });
    await commit(store, noteKind.put(note("1")), noteKind.put(second), otherKind.put({ id: "1", revision: 1 }));
    const moved = note("1", { revision: 2, about: "b" });
    await commit(store, noteKind.put(moved), noteKind.put(note("3")));
    const view = async (from: Store) => [
      await notes(from),
      await from.records(noteKind).list("a"),
      await from.records(noteKind).list("b"),
      await from.records(noteKind).get("1"),
      await from.records(noteKind).get("nobody"),
      await from.records(otherKind).list(),
    ];
    const all = [moved, second, note("3")];
    const wanted = [all, [note("3")], [moved, second], moved, undefined, [{ id: "1", revision: 1 }]];
    expect(await view(store)).toEqual(wanted);
    expect(Object.isFrozen(await store.records(noteKind).get("1"))).toBe(true);
    await store.close();
    expect(await view(await home.open())).toEqual(wanted);
  });

  test.each([0, 1, 2, 4])("stored revision 2, offered %i: refused", async (revision) => {
    const store = await home.open();
    const held = note("1", { revision: 2, text: "held" });
    await commit(store, noteKind.put(note("1")), noteKind.put(held));
    const offered = commit(store, noteKind.put(note("1", { revision })));
    await expect(offered).rejects.toMatchObject({ code: "revision-conflict", details: { kind: "note", id: "1" } });
    expect(await notes(store)).toEqual([held]);
  });

  test("of two who change the same revision in one turn, one is refused", async () => {
    const store = await home.open();
    await commit(store, noteKind.put(note("1")));
    const outcomes = await Promise.allSettled(
      ["one", "two"].map((text) => commit(store, noteKind.put(note("1", { revision: 2, text })))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(await notes(store)).toEqual([note("1", { revision: 2, text: "one" })]);
  });

  test("is removed as it is stored, or not at all", async () => {
    const store = await home.open();
    await commit(store, noteKind.put(note("1")), noteKind.put(note("1", { revision: 2 })));
    await expect(commit(store, noteKind.remove(note("1")))).rejects.toMatchObject({ code: "revision-conflict" });
    await commit(store, noteKind.remove(note("1", { revision: 2 })));
    expect(await notes(store)).toEqual([]);
    await expect(commit(store, noteKind.put(note("1", { revision: 3 })))).rejects.toMatchObject({
      code: "revision-conflict",
    });
  });

  test.each(["the note", "the session", "the message", "nothing"] as const)(
    "changes together with a session and a message, or not at all: %s is in the way",
    async (bad) => {
      const store = await home.open();
      const session = makeSession(home, "a");
      await commit(store, putSession(session), noteKind.put(note("1")));
      const next = bad === "the session" ? session : nextRevision(session);
      const noted = note("1", { revision: bad === "the note" ? 1 : 2, text: "changed" });
      const message = makeMessage(bad === "the message" ? "nobody" : "a", "m");
      const offered = store.commit({
        changes: [noteKind.put(noted), putSession(next), admitMessage(message)],
        events: [{ sessionId: "a", body: STARTED }],
      });
      const view = async (from: Store) => [
        from.registry.all(),
        await notes(from),
        from.mailbox.open("a").length,
        from.log.head(),
      ];
      const isKept = bad === "nothing";
      expect((await Promise.allSettled([offered]))[0]?.status).toBe(isKept ? "fulfilled" : "rejected");
      const wanted = isKept ? [[next], [noted], 1, 1] : [[session], [note("1")], 0, 0];
      expect(await view(store)).toEqual(wanted);
      await store.close();
      expect(await view(await home.open())).toEqual(wanted);
    },
  );

  test("is saved from a damaged database", async () => {
    const store = await home.open();
    await commit(store, noteKind.put(note("1")), noteKind.put(note("1", { revision: 2, about: "b" })));
    await store.close();
    const db = Sqlite.open(home.databasePath);
    db.run("INSERT INTO sessions (id, name, revision, body) VALUES ('b', 'b', 1, 'no json')");
    db.close();
    const mended = await home.open();
    expect(mended.repairs).toMatchObject([{ type: "store-rebuilt" }]);
    expect(await mended.records(noteKind).list("b")).toEqual([note("1", { revision: 2, about: "b" })]);
  });

  test("that cannot be read says so, and the database is not taken for damaged", async () => {
    const store = await home.open();
    await commit(store, noteKind.put({ id: "1", revision: 1, about: "a" } as Note));
    await expect(store.records(noteKind).get("1")).rejects.toMatchObject({
      code: "record-unreadable",
      message: expect.stringContaining("note 1") as string,
    });
    await store.close();
    expect((await home.open()).repairs).toEqual([]);
  });
});

describe("the home's own record", () => {
  test("is one, begins empty, and changes by revision", async () => {
    const store = await home.open();
    const records = store.records(homeKind);
    expect(await records.get("home")).toBeUndefined();
    const first = changedHome(undefined, { cursors: { timeline: 7 } });
    expect(first).toEqual({ id: "home", revision: 1, settings: {}, breaker: null, cursors: { timeline: 7 } });
    await commit(store, homeKind.put(first));
    await expect(commit(store, homeKind.put(first))).rejects.toMatchObject({ code: "revision-conflict" });
    const second = changedHome(first, { settings: { quota: 3 }, breaker: { reason: "too many failed", openedAt: 5 } });
    await commit(store, homeKind.put(second));
    await store.close();
    expect(await (await home.open()).records(homeKind).list()).toEqual([{ ...second, cursors: { timeline: 7 } }]);
  });

  test.each([null, 3, {}, { id: "other" }, { ...changedHome(undefined, {}), cursors: { a: "x" } }])(
    "is not made of anything else: %j",
    (value) => {
      expect(() => homeKind.parse(value)).toThrow();
    },
  );
});

test("a database of the version before has no records, and takes them", async () => {
  const db = Sqlite.open(home.databasePath);
  migrate(db, MIGRATIONS.slice(0, 2));
  db.run("INSERT INTO meta (key, value) VALUES ('instance', 'abcd1234')");
  db.close();
  const store = await home.open();
  expect([store.instance, await notes(store)]).toEqual(["abcd1234", []]);
  await commit(store, noteKind.put(note("1")));
  expect(await notes(store)).toEqual([note("1")]);
});
