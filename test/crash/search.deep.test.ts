/** kill -9 of the daemon, or of what keeps the search index, around its commits: nothing is in it twice, and nothing is missing. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isDead, listProcesses, readArguments } from "../../src/platform/process-table.ts";
import { eventually } from "../support/eventually.ts";
import { operatorOf } from "../support/session-caller.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

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

/** Of those that keep this home's index. */
function living(): readonly number[] {
  return listProcesses()
    .filter((row) => !isDead(row) && readArguments(row.pid).includes(join(home.dir, "search.db")))
    .map(({ pid }) => pid);
}

async function talk(text: string): Promise<void> {
  await home.json("send", "talker", text);
  await home.json("wait", "talker", "--for", "turn-completed");
}

async function expectAllOnce(): Promise<void> {
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
}

test.each(["search.before-commit", "search.after-commit"])("its process killed at %s", async (point) => {
  const daemon = await home.daemonPid();
  for (const step of [1, 2]) {
    home.failAt(point);
    await talk(`word ${point} ${step}`);
    await eventually(`the index reaches ${point}`, () => !home.isFailpointArmed());
  }
  expect(await home.daemonPid()).toBe(daemon);
  await expectAllOnce();
});

test("the daemon killed while it writes: its process ends with it, and the next one goes on", async () => {
  for (const step of [1, 2, 3]) {
    await talk(`word killed ${step}`);
    await eventually("the index is being kept", () => living().length > 0);
    await home.killDaemon();
    await eventually("nobody keeps it", () => living().length === 0);
  }
  await expectAllOnce();
});
