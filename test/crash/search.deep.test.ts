/** kill -9 of the daemon around a commit of the search index: nothing is in it twice, and nothing is missing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { operatorOf } from "../support/session-caller.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt } from "./crashing.ts";

let home: TestHome;
let transcript = "";
beforeAll(async () => {
  home = createTestHome();
  await home.json("start", "practice", "word 0", "--name", "talker");
  await home.json("wait", "talker", "--for", "turn-completed");
  const { observability } = await home.session("talker");
  transcript = (observability as { transcript_path: string }).transcript_path;
});
afterAll(() => home.dispose());

/** As they stand in the transcript. */
function said(): readonly string[] {
  const lines = readFileSync(transcript, "utf8").trimEnd().split("\n");
  const texts = lines.map((line) => (JSON.parse(line) as { text?: string }).text);
  return texts.filter((text) => text !== undefined).toSorted();
}

function inIndex(sql: string): readonly string[] {
  const db = new DatabaseSync(join(home.dir, "search.db"), { readOnly: true });
  try {
    return db
      .prepare(sql)
      .all()
      .map((row) => String(row["found"]))
      .toSorted();
  } finally {
    db.close();
  }
}

test.each(["search.before-commit", "search.after-commit"])("killed at %s", async (point) => {
  for (const step of [1, 2]) {
    await crashingAt(home, point, async () => {
      await home.json("send", "talker", `word ${point} ${step}`);
      await home.json("wait", "talker", "--for", "turn-completed");
    });
  }
  await eventually("all that was said is in the index, once", async () => {
    const { index } = await operatorOf(home).search({ text: "word" });
    if (!index.complete) return false;
    const found = inIndex("SELECT text AS found FROM entry WHERE source > 0");
    return JSON.stringify(found) === JSON.stringify(said());
  });
  const events = (await home.events()).map(({ seq }) => String(seq));
  const found = inIndex("SELECT ref AS found FROM entry WHERE source = 0");
  expect(new Set(found).size).toBe(found.length);
  expect(events).toEqual(expect.arrayContaining([...found]));
  expect(inIndex("SELECT count(*) AS found FROM words")).toEqual(inIndex("SELECT count(*) AS found FROM entry"));
});
