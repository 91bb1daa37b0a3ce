/** What version 0.1 wrote, read by this one: every session has every field, and nothing is set aside. */
import { amend } from "../session/amend.ts";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../session/session.ts";
import { admitMessage, putSession, settleMessage } from "./change.ts";
import { MIGRATIONS, migrate, schemaVersion } from "./migrations.ts";
import { completed, isSession } from "../session/session-record.ts";
import { Sqlite } from "./sqlite.ts";
import { readStateFile } from "./state-file.ts";
import {
  flat,
  type FlatSession,
  makeHome,
  makeMessage,
  makeSession,
  nextRevision,
  STARTED,
  type TestHome,
  unbarred,
  momentAt,
} from "./store-fixture.ts";

let home: TestHome;
let session: Session;
beforeEach(() => {
  home = makeHome();
  session = makeSession(home, "a", {
    conversation: { turns: 3, turnOpen: true },
    identity: { startedBy: null, launch: { ...makeSession(home, "a").identity.launch, paths: {} } },
    watch: { mode: "process", text: "", version: null, socket: null, statusDir: null, capture: null },
  });
});
afterEach(() => home.remove());

/** As 0.1 knew it. */
function earlier(of: Session): object {
  const { startedBy, lastCommand, lastTurn, approvals, stalledAt, watch, transcriptCursor, usage, launch, ...rest } =
    flat(of);
  expect([startedBy, lastCommand, lastTurn, approvals, stalledAt, watch.text, transcriptCursor, usage]).toEqual([
    null,
    null,
    null,
    [],
    null,
    "",
    null,
    null,
  ]);
  const { paths: _paths, ...known } = launch;
  return { ...rest, launch: known };
}

function writeDatabase(bodies: readonly object[]): void {
  const db = Sqlite.open(home.databasePath);
  migrate(db, MIGRATIONS.slice(0, 1));
  for (const body of bodies) {
    const { id, name, revision } = body as FlatSession;
    db.run(
      "INSERT INTO sessions (id, name, revision, body) VALUES (?, ?, ?, ?)",
      id,
      name,
      revision,
      JSON.stringify(body),
    );
  }
  db.run("INSERT INTO events (at, session_id, body) VALUES (?, ?, ?)", 1, "a", JSON.stringify(STARTED));
  db.run(
    "INSERT INTO messages (id, session_id, position, text, submit, state, admitted_at, settled_at, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "m1",
    "a",
    1,
    '"hello"',
    1,
    "admitted",
    1_700_000_000_000,
    null,
    null,
  );
  db.run("INSERT INTO meta (key, value) VALUES ('instance', 'abcd1234')");
  expect(schemaVersion(db)).toBe(1);
  db.close();
}

function writeState(of: Session): void {
  const head = JSON.stringify({ format: 1, seq: 1, revision: of.revision, session: earlier(of) }).slice(0, -1);
  mkdirSync(of.identity.outputsDir, { recursive: true });
  const checksum = createHash("sha256").update(head).digest("hex");
  writeFileSync(join(of.identity.outputsDir, "state.json"), `${head},"checksum":"${checksum}"}\n`);
}

describe("a database of schema 1", () => {
  test("opens with its sessions, messages and events, and goes on", async () => {
    writeDatabase([earlier(session)]);
    writeState(session);
    const store = await home.open();
    await store.verified;
    expect(store.registry.get("a")).toEqual(session);
    expect(store.registry.all()).toEqual([session]);
    expect(isSession(store.registry.get("a"))).toBe(true);
    expect(store.mailbox.open("a")).toEqual([{ ...makeMessage("a", "m1", { caller: null }), position: 1 }]);
    expect([store.instance, store.log.head(), store.repairs]).toEqual(["abcd1234", 1, []]);
    const next = nextRevision(session, {
      conversation: { stalledAt: 5, usage: { inputTokens: 1, cachedInputTokens: 0, outputTokens: 2, costUsd: null } },
    });
    await store.commit({ changes: [putSession(next), admitMessage(makeMessage("a", "m2", { how: "interrupt" }))] });
    await store.close();
    const again = await home.open();
    expect(again.registry.get("a")).toEqual(next);
    expect(again.mailbox.open("a").map(({ id, how }) => [id, how])).toEqual([
      ["m1", "queue"],
      ["m2", "interrupt"],
    ]);
  });

  test("is not at odds with the state.json that 0.1 wrote beside it", async () => {
    writeDatabase([earlier(session)]);
    writeState(session);
    const store = await home.open();
    await store.verified;
    await store.close();
    expect(readdirSync(session.identity.outputsDir)).toEqual(["state.json"]);
    expect(home.logged).toEqual([]);
  });

  test("that is damaged gives up its messages, sessions and events", async () => {
    writeDatabase([earlier(session)]);
    const db = Sqlite.open(home.databasePath);
    db.run("INSERT INTO sessions (id, name, revision, body) VALUES ('b', 'b', 1, 'no json')");
    db.close();
    const store = await home.open();
    expect(store.registry.all()).toEqual([session]);
    expect(store.mailbox.open("a")).toEqual([{ ...makeMessage("a", "m1", { caller: null }), position: 1 }]);
    expect(store.repairs).toMatchObject([{ type: "store-rebuilt", sessions: 1 }]);
  });
});

describe("a state.json of 0.1", () => {
  test("is read with every field", async () => {
    writeState(session);
    expect(await readStateFile(session.identity.outputsDir)).toEqual({ status: "good", record: { seq: 1, session } });
  });

  test("is enough where the database is lost", async () => {
    writeState(session);
    const store = await home.open();
    expect(store.registry.all().map(unbarred)).toEqual([session]);
  });

  test("ahead of the database is set aside", async () => {
    writeDatabase([earlier(session)]);
    writeState(nextRevision(session, { conversation: { turns: 4 } }));
    const store = await home.open();
    await store.verified;
    expect(store.registry.get("a")).toEqual(session);
    expect(readdirSync(session.identity.outputsDir).some((name) => name.includes(".corrupt-"))).toBe(true);
  });
});

describe("what is missing is added", () => {
  test("and what is there stays as it is, in its order: records are compared by their text", () => {
    const whole = makeSession(home, "a", { conversation: { stalledAt: 7, turns: 1 } });
    expect(JSON.stringify(completed(whole))).toBe(JSON.stringify(whole));
    expect(completed(earlier(session))).toEqual(session);
    expect(JSON.stringify(completed(completed(earlier(session))))).toBe(JSON.stringify(completed(earlier(session))));
  });

  test.each([null, 3, "x", [], {}, { launch: null }, { launch: 3 }])("but nothing is made a session: %j", (value) => {
    expect(isSession(completed(value))).toBe(false);
  });
});

describe("how a message is to be given", () => {
  test.each(["queue", "steer", "interrupt"] as const)(
    "%s survives leases, settlements, restarts and damage",
    async (how) => {
      const whole = makeSession(home, "a");
      const store = await home.open();
      await store.commit({ changes: [putSession(whole), admitMessage(makeMessage("a", "m1", { how }))] });
      await store.commit({ changes: [admitMessage(makeMessage("a", "m2", { how }))] });
      await store.commit({
        changes: [settleMessage({ messageId: "m1", state: "leased", detail: null, moment: momentAt(5) })],
      });
      expect(store.mailbox.typed("a", 9)).toMatchObject([{ id: "m1", how }]);
      await store.commit({
        changes: [settleMessage({ messageId: "m1", state: "delivered", detail: "typed", moment: momentAt(6) })],
      });
      await store.close();
      const again = await home.open();
      expect(again.mailbox.get("m1")).toMatchObject({ state: "delivered", how });
      expect(again.mailbox.open("a")).toMatchObject([{ id: "m2", how }]);
      await again.close();
      const db = Sqlite.open(home.databasePath);
      db.run("INSERT INTO sessions (id, name, revision, body) VALUES ('b', 'b', 1, 'no json')");
      db.close();
      const mended = await home.open();
      expect(mended.repairs).toMatchObject([{ type: "store-rebuilt" }]);
      expect(mended.mailbox.open("a")).toMatchObject([{ id: "m2", how }]);
    },
  );

  test("anything else is refused by the database", async () => {
    const store = await home.open();
    await store.commit({ changes: [putSession(makeSession(home, "a"))] });
    await expect(
      store.commit({ changes: [admitMessage(makeMessage("a", "m", { how: "loudly" as "queue" }))] }),
    ).rejects.toThrow(/CHECK/);
  });
});

describe("who asked", () => {
  test("is not known of what schema 2 wrote, and is from then on", async () => {
    const db = Sqlite.open(home.databasePath);
    migrate(db, MIGRATIONS.slice(0, 2));
    const { startedBy: _startedBy, lastCommand: _lastCommand, ...before } = flat(session);
    db.run(
      "INSERT INTO sessions (id, name, revision, body) VALUES ('a', ?, 1, ?)",
      session.identity.name,
      JSON.stringify(before),
    );
    db.run("INSERT INTO events (at, session_id, body) VALUES (1, 'a', ?)", JSON.stringify(STARTED));
    db.run(
      "INSERT INTO messages (id, session_id, position, text, submit, how, state, admitted_at) VALUES ('m1', 'a', 1, '\"x\"', 1, 'queue', 'admitted', 1)",
    );
    db.close();
    const store = await home.open();
    expect(store.registry.get("a")).toMatchObject({ identity: { startedBy: null }, wish: { lastCommand: null } });
    await store.commit({
      changes: [admitMessage(makeMessage("a", "m2", { caller: "session:b" }))],
      events: [{ sessionId: "a", body: STARTED, caller: "session:b", via: "mcp" }],
    });
    await store.close();
    const again = await home.open();
    expect(again.mailbox.open("a").map(({ caller }) => caller)).toEqual([null, "session:b"]);
    const events = await again.log.read({ after: 0, limit: 9 });
    expect(events.map(({ caller, via }) => [caller, via])).toEqual([
      [null, undefined],
      ["session:b", "mcp"],
    ]);
  });

  test("survives the damage of the database", async () => {
    const store = await home.open();
    await store.commit({
      changes: [putSession(makeSession(home, "a")), admitMessage(makeMessage("a", "m1", { caller: "session:b" }))],
      events: [{ sessionId: "a", body: STARTED, caller: "operator", via: "board" }],
    });
    await store.close();
    const db = Sqlite.open(home.databasePath);
    db.run("INSERT INTO sessions (id, name, revision, body) VALUES ('b', 'b', 1, 'no json')");
    db.close();
    const mended = await home.open();
    expect(mended.repairs).toMatchObject([{ type: "store-rebuilt" }]);
    expect(mended.mailbox.open("a")).toMatchObject([{ caller: "session:b" }]);
    const events = await mended.log.read({ after: 0, limit: 1 });
    expect(events).toMatchObject([{ caller: "operator", via: "board" }]);
  });
});

test("a home of 0.1 without outputs opens too", async () => {
  writeDatabase([earlier(session)]);
  rmSync(home.outputsRoot, { recursive: true, force: true });
  const store = await home.open();
  await store.verified;
  expect(store.registry.all()).toEqual([session]);
});

test("a last turn without what later versions keep of it is completed", () => {
  const {
    isEnding: _isEnding,
    inferred: _inferred,
    ...known
  } = {
    startedAt: 1,
    id: "t",
    verdict: "completed",
    error: null,
    verdictSource: "hook",
    isEnding: false,
    stops: 0,
    prolonged: 0,
    earlier: [],
    inferred: [],
  } as const;
  const before = { ...flat(session), lastTurn: known };
  expect(isSession(before)).toBe(false);
  expect(completed(before)).toEqual(
    amend(session, {
      conversation: { lastTurn: { ...known, isEnding: false, stops: 0, prolonged: 0, inferred: [], failure: null } },
    }),
  );
  expect(isSession(completed(before))).toBe(true);
});

test("an answer under way that an earlier version recorded is the operator's, for there was no other", () => {
  const asked = {
    id: "q",
    kind: "command",
    title: "rm",
    subject: null,
    cwd: null,
    reason: null,
    requestedAt: 1,
  } as const;
  const answer = { decision: "approved", stage: "given", at: 2 } as const;
  const before = {
    ...flat(session),
    approvals: [
      { ...asked, answer },
      { ...asked, id: "r", answer: null },
    ],
  };
  expect(isSession(before)).toBe(false);
  expect(completed(before)).toMatchObject({
    conversation: { approvals: [{ answer: { ...answer, by: "operator" } }, { answer: null }] },
  });
  expect(isSession(completed(before))).toBe(true);
});
