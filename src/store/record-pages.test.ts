/** Pages of a group and names of groups come from the index, whatever else is in the table. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineKind, type Kept } from "../session/record-kind.ts";
import type { Store } from "./contract.ts";
import { Sqlite } from "./sqlite.ts";
import { makeHome, STARTED, type TestHome } from "./store-fixture.ts";

interface Letter extends Kept {
  readonly box: string;
  readonly seq: number;
}

const letterKind = defineKind<Letter>({
  name: "letter",
  parse: (value) => value as Letter,
  groupOf: ({ box }) => box,
});

let home: TestHome;
let store: Store;
beforeEach(async () => {
  home = makeHome();
  store = await home.open();
});
afterEach(() => home.remove());

const letter = (id: string, box: string, seq = 0): Letter => ({ id, revision: 1, box, seq });
const event = { sessionId: null, body: STARTED };

test("a group is read newest first, page by page, and without what moved to another", async () => {
  const letters = Array.from({ length: 7 }, (_, at) => letter(`l-${at}`, at === 3 ? "new/b" : "new/a"));
  await store.commit({ changes: letters.map(letterKind.put) });
  const records = store.records(letterKind);
  const first = await records.page({ group: "new/a", limit: 4 });
  expect(first.map(({ record }) => record.id)).toEqual(["l-6", "l-5", "l-4", "l-2"]);
  await store.commit({ changes: [letterKind.put({ ...letter("l-1", "old/a"), revision: 2 })] });
  const rest = await records.page({ group: "new/a", before: first.at(-1)?.place, limit: 4 });
  expect(rest.map(({ record }) => record.id)).toEqual(["l-0"]);
  expect(await records.page({ group: "new/c", limit: 4 })).toEqual([]);
  expect(await records.groups("new/")).toEqual(["new/a", "new/b"]);
  expect(await records.groups("")).toEqual(["new/a", "new/b", "old/a"]);
});

test("a record holds the number of its event, however many commits share a transaction", async () => {
  const commits = Array.from({ length: 20 }, (_, at) =>
    store.commit({
      numbered: (first) => [0, 1].map((offset) => letterKind.put(letter(`l-${at}-${offset}`, "new/a", first + offset))),
      // Every third is refused, and takes no number.
      ...(at % 3 === 2 ? { changes: [letterKind.put({ ...letter("nobody", "x"), revision: 9 })] } : {}),
      events: [event, event],
    }),
  );
  const outcomes = await Promise.allSettled(commits);
  const byId = new Map((await store.records(letterKind).list()).map(({ id, seq }) => [id, seq]));
  for (const [at, outcome] of outcomes.entries()) {
    expect(outcome.status).toBe(at % 3 === 2 ? "rejected" : "fulfilled");
    const seqs = outcome.status === "fulfilled" ? outcome.value.map(({ seq }) => seq) : [];
    expect([byId.get(`l-${at}-0`), byId.get(`l-${at}-1`)].filter((seq) => seq !== undefined)).toEqual(seqs);
  }
  expect(byId.size).toBe(28);
});

test("both statements are answered by the index of groups", async () => {
  const db = Sqlite.openReadOnly(home.databasePath);
  const plan = (sql: string, ...values: readonly (string | number)[]): string =>
    db
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values)
      .map(({ detail }) => detail)
      .join("; ");
  const page = "SELECT * FROM records WHERE kind = ? AND group_key = ? AND ordinal < ? ORDER BY ordinal DESC LIMIT ?";
  const names = "SELECT MIN(group_key) AS name FROM records WHERE kind = ? AND group_key > ?";
  try {
    expect(plan(page, "letter", "a", 9, 1)).toBe(
      "SEARCH records USING INDEX records_by_group (kind=? AND group_key=? AND rowid<?)",
    );
    expect(plan(names, "letter", "a")).toBe(
      "SEARCH records USING COVERING INDEX records_by_group (kind=? AND group_key>?)",
    );
  } finally {
    db.close();
  }
});
