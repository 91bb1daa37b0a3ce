/** kill -9 of the daemon around the inbox: each item is opened once, closed once, acknowledged once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

let home: TestHome;
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

interface Item {
  readonly item_id: string;
  readonly number: number;
  readonly session_name: string;
  readonly kind: string;
  readonly state: string;
}

const itemsOf = async (name: string): Promise<readonly Item[]> =>
  (await home.json<{ items: Item[] }>("inbox", "--all")).items.filter((item) => item.session_name === name);

const eventsOf = async ({ item_id: id }: Item): Promise<readonly string[]> =>
  (await home.events()).filter(({ data }) => data["item_id"] === id).map(({ type }) => type);

async function startAsking(): Promise<string> {
  const name = `asker-${++count}`;
  await home.json("start", "practice", "--name", name, "ask to go on");
  return name;
}

const asked = (name: string): Promise<Item> =>
  eventually("it is in the inbox", async () => {
    const [item, ...others] = await itemsOf(name);
    expect(others).toEqual([]);
    return item;
  });

test.each([
  ["read.after-commit", "answer.after-commit"],
  ["inbox.before-commit", "inbox.before-commit"],
  ["inbox.after-commit", "inbox.after-commit"],
])("killed at %s when it is asked, at %s when it is answered: opened once, closed once", async (asking, answering) => {
  let name = "";
  await crashingAt(home, asking, async () => {
    name = await startAsking();
  });
  const item = await asked(name);
  expect(await eventsOf(item)).toEqual(["inbox-opened"]);
  await crashingAt(home, answering, async () => void (await home.run(["approve", name])));
  await eventually("it is closed", async () => (await itemsOf(name)).some(({ state }) => state === "closed"));
  expect(await eventsOf(item)).toEqual(["inbox-opened", "inbox-closed"]);
  await expectEventLogComplete(home);
});

test.each(["inbox.before-commit", "inbox.after-commit"])("killed at %s: acknowledged once", async (point) => {
  const name = await startAsking();
  const { number } = await asked(name);
  await crashingAt(home, point, async () => void (await home.json("inbox", "answer", String(number), "ack")));
  const [item] = await itemsOf(name);
  expect(item).toMatchObject({ number, state: "acknowledged" });
  expect(await eventsOf(item ?? ({} as Item))).toEqual(["inbox-opened", "inbox-acknowledged"]);
});

test("no number was given twice", async () => {
  const { items } = await home.json<{ items: Item[] }>("inbox", "--all");
  expect(new Set(items.map(({ number }) => number)).size).toBe(items.length);
});
