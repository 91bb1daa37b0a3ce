/** A copy of the database from earlier is put back: nothing that was told is told again as new. */
import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Session } from "../session/session.ts";
import { admitMessage, putSession, settleMessage } from "./change.ts";
import { encodeState } from "./state-file.ts";
import { makeHome, makeSession, nextRevision, type TestHome, momentAt } from "./store-fixture.ts";

let home: TestHome;
beforeEach(() => void (home = makeHome()));
afterEach(() => home.remove());

const boss = (changes = {}): Session => makeSession(home, "boss", { identity: { name: "boss" }, ...changes });
const started = { sessionId: "boss", body: { type: "turn-started", turn: 1, evidence: evidenceOf() } } as const;

function evidenceOf() {
  return { source: "hook", detail: "a hook", at: 1 } as const;
}

const message = {
  id: "m-1",
  sessionId: "boss",
  text: "[reeve] wake 1",
  submit: true,
  caller: "system",
  how: "queue",
  intendedTurn: null,
  answers: null,
  state: "admitted",
  admittedAt: 1,
  settled: null,
  detail: null,
} as const;

async function backedUp(): Promise<{ readonly putBack: () => void; readonly head: number }> {
  const store = await home.open();
  const open = { messageId: "m-1", since: 0, through: 1, count: 1, mailThrough: 0, turns: 0, recovers: 0 };
  await store.commit({ changes: [putSession(boss({ wakes: { open } })), admitMessage(message)], events: [started] });
  const head = store.log.head();
  await store.close();
  const copy = join(home.directory, "copy.db");
  copyFileSync(home.databasePath, copy);
  return {
    head,
    putBack() {
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${home.databasePath}${suffix}`, { force: true });
      copyFileSync(copy, home.databasePath);
    },
  };
}

test("what was told since the copy counts as told, and numbers go on above all that were given out", async () => {
  const { putBack } = await backedUp();
  const later = await home.open();
  const before = later.registry.get("boss");
  if (before === undefined) throw new Error("it is there");
  const wakes = { acknowledged: 40, mail: 30, told: { fix: 50 }, wokenIncarnation: 1, recovered: 1, open: null };
  await later.commit({
    changes: [
      putSession(nextRevision(before, { wakes })),
      settleMessage({ messageId: "m-1", state: "delivered", detail: null, moment: momentAt(2) }),
    ],
    events: Array.from({ length: 60 }, () => started),
  });
  const highest = later.log.head();
  await later.close();
  putBack();

  const store = await home.open();
  const session = store.registry.get("boss");
  expect(session?.wakes).toMatchObject(wakes);
  expect(session?.revision).toBe(before.revision + 1);
  expect(store.log.head()).toBeGreaterThan(highest);
  expect(store.mailbox.open("boss")).toEqual([]);
  expect(store.mailbox.get("m-1")).toMatchObject({ state: "unknown" });
  expect(store.repairs).toMatchObject([{ type: "store-put-back", highest, sessions: 1 }]);
  const head = store.log.head();
  await store.close();

  // Once.
  const again = await home.open();
  expect(again.repairs).toEqual([]);
  expect(again.log.head()).toBe(head);
});

test("a database that is not older is left alone", async () => {
  const { head } = await backedUp();
  const store = await home.open();
  expect(store.repairs).toEqual([]);
  expect(store.log.head()).toBe(head);
  expect(store.mailbox.open("boss")).toHaveLength(1);
});

test("a forged file in a session's directory changes nothing, and a forged number beside the database little", async () => {
  const { head } = await backedUp();
  const session = { ...boss(), revision: 99 };
  const path = join(session.identity.outputsDir, "state.json");
  for (const [seq, seen] of [
    [head + 5, head],
    [head + 5, 2 ** 49],
  ] as const) {
    writeFileSync(path, encodeState({ seq, session }), { mode: 0o600 });
    writeFileSync(`${home.databasePath}.head`, `${seen}\n`);
    const store = await home.open();
    expect(store.repairs).toEqual([]);
    expect(store.registry.get("boss")?.revision).toBe(1);
    expect(store.mailbox.open("boss")).toHaveLength(1);
    await store.close();
  }
});
