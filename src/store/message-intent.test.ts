/** What a message is meant for is kept with it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { admitMessage, putSession, settleMessage } from "./change.ts";
import { MIGRATIONS, migrate } from "./migrations.ts";
import { Sqlite } from "./sqlite.ts";
import { flat, makeHome, makeMessage, makeSession, type TestHome, momentAt } from "./store-fixture.ts";

const intent = { intendedTurn: 3, answers: "1 3 1700000000000" };
let home: TestHome;
beforeEach(() => void (home = makeHome()));
afterEach(() => home.remove());

test("not known of what schema 6 wrote, and is from then on", async () => {
  const session = makeSession(home, "a");
  const db = Sqlite.open(home.databasePath);
  migrate(db, MIGRATIONS.slice(0, 6));
  db.run(
    "INSERT INTO sessions (id, name, revision, body) VALUES ('a', ?, 1, ?)",
    session.identity.name,
    JSON.stringify(flat(session)),
  );
  db.run(
    "INSERT INTO messages (id, session_id, position, text, submit, how, state, admitted_at) VALUES ('m1', 'a', 1, '\"x\"', 1, 'interrupt', 'admitted', 1)",
  );
  db.close();
  const store = await home.open();
  await store.commit({ changes: [admitMessage(makeMessage("a", "m2", intent))] });
  await store.close();
  const again = await home.open();
  expect(again.mailbox.open("a")).toMatchObject([{ id: "m1", intendedTurn: null, answers: null }, intent]);
});

test("survives a lease, and the damage of the database", async () => {
  const store = await home.open();
  await store.commit({ changes: [putSession(makeSession(home, "a")), admitMessage(makeMessage("a", "m1", intent))] });
  await store.commit({
    changes: [settleMessage({ messageId: "m1", state: "leased", detail: null, moment: momentAt(1) })],
  });
  await store.close();
  const db = Sqlite.open(home.databasePath);
  db.run("INSERT INTO sessions (id, name, revision, body) VALUES ('b', 'b', 1, 'no json')");
  db.close();
  const mended = await home.open();
  expect(mended.repairs).toMatchObject([{ type: "store-rebuilt" }]);
  expect(mended.mailbox.open("a")).toMatchObject([{ state: "leased", ...intent }]);
});
