/** The operator's inbox: by number on the command line, over HTTP and over MCP, and all of them agree. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { askDaemon, askWithPass } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { connectSocket, type Tools } from "../support/mcp-client.ts";
import { openTerminal } from "../support/person-terminal.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { passOf, startSleeper } from "../support/session-caller.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

interface Item {
  readonly item_id: string;
  readonly number: number;
  readonly kind: string;
  readonly state: string;
  readonly session_name: string | null;
  readonly closed_why: string | null;
  readonly answers: readonly string[];
}
interface Listed {
  readonly items: readonly Item[];
  readonly open: number;
}

/** Works until somebody lets it ask, and then says what it was told. */
const ASKING = `#!/bin/sh
printf 'ready>'
while read -r word; do
  printf 'working...'
  until [ -e may-ask ]; do sleep 0.05; done
  printf '\\r\\033[KWhich one? '
  read -r answer
  echo "$answer" > answered
  printf 'ready>'
done
`;

let home: TestHome;
let tools: Tools;
beforeAll(async () => {
  home = createTestHome();
  writeFileSync(join(home.dir, "asking"), ASKING, { mode: 0o755 });
  home.configure(
    `[agent.asking]\ncommand = ["${join(home.dir, "asking")}"]\nready = '^ready>$'\nworking = '^working'\nwaiting = '^Which one\\?$'\n`,
  );
  await home.json("daemon", "start");
  tools = await connectSocket(home);
});
afterAll(async () => {
  await tools.close();
  await home.dispose();
});

const listed = (...options: readonly string[]): Promise<Listed> => home.json<Listed>("inbox", ...options);

function itemOf(name: string, kind: string, ...options: readonly string[]): Promise<Item> {
  return eventually(`${name} is in the inbox as ${kind}`, async () =>
    (await listed(...options)).items.find((item) => item.session_name === name && item.kind === kind),
  );
}

async function stateEverywhere({ number, item_id: id }: Item): Promise<readonly (string | undefined)[]> {
  const overHttp = await askDaemon<Listed>(home, "/v1/inbox?all=true");
  const overMcp = await tools.ok<Listed>("list_inbox", { all: true });
  const overCli = await listed("--all");
  return [overCli, overHttp, overMcp].map((list) => {
    const item = list?.items.find((one) => one.item_id === id);
    expect(item?.number).toBe(number);
    return item?.state;
  });
}

const eventsOf = async ({ item_id: id }: Item): Promise<readonly string[]> =>
  (await home.events()).filter(({ data }) => data["item_id"] === id).map(({ type }) => type);

test("an approval is answered by its number; a second answer hears that it is over", async () => {
  await home.json("start", "practice", "--name", "asker", "ask to go on");
  const item = await itemOf("asker", "approval");
  expect(item.answers).toEqual(["approve", "deny", "end", "acknowledge", "snooze"]);
  const { stdout, stderr } = await home.run(["inbox"]);
  expect(stdout).toMatch(new RegExp(`^${item.number} +blocked .*asker asks: Run "to go on"\\?$`, "m"));
  expect(stderr).toContain(`reeve inbox answer ${item.number} approve`);
  const answered = await home.run(["inbox", "answer", String(item.number), "approve"]);
  expect([answered.status, answered.stdout]).toEqual([0, expect.stringMatching(/approved: asker asks:.*took effect/)]);
  expect(await stateEverywhere(item)).toEqual(["closed", "closed", "closed"]);
  expect(await eventsOf(item)).toEqual(["inbox-opened", "inbox-closed"]);
  const late = await home.run(["inbox", "answer", String(item.number), "deny", "--json"]);
  expect(late.status).not.toBe(0);
  expect(JSON.parse(late.stdout)).toMatchObject({ error: { code: "item-closed" } });
});

test("what finished is acknowledged over MCP: then it is seen everywhere", async () => {
  await home.json("start", "practice", "--name", "writer", "hello");
  const item = await itemOf("writer", "finished");
  expect((await home.session("writer"))["unseen"]).toBe(true);
  await tools.ok("answer_inbox", { item: item.item_id, answer: "acknowledge" });
  expect((await home.session("writer"))["unseen"]).toBe(false);
  expect(await stateEverywhere(item)).toEqual(["closed", "closed", "closed"]);
  expect(await eventsOf(item)).toEqual(["inbox-opened", "inbox-acknowledged", "inbox-closed"]);
});

test("a question is replied to in place", async () => {
  await home.json("start", "asking", "--name", "questioner", "--cwd", home.dir, "begin");
  await eventually("it works", async () => (await home.session("questioner"))["activity"] === "working");
  writeFileSync(join(home.dir, "may-ask"), "");
  const item = await itemOf("questioner", "question");
  const { stdout } = await home.run(["inbox", "answer", String(item.number), "reply", "the", "left one"]);
  expect(stdout).toContain(`${item.number} `);
  const answer = await eventually("it has the reply", () => readIfThere(join(home.dir, "answered")) || null);
  expect(answer).toBe("the left one\n");
  await eventually("it was answered", async () => (await itemOf("questioner", "question", "--all")).state === "closed");
});

test("a dead session is one failure; what a restart makes of it is another; snoozed and back", async () => {
  await home.run(["start", "command", "--name", "broken", "--", "sh", "-c", "exit 3"]);
  const item = await itemOf("broken", "failure");
  expect((await home.run(["inbox", "answer", String(item.number), "restart"])).status).not.toBe(0);
  const again = await eventually("the next failure", async () =>
    (await listed()).items.find(({ session_name: name, number }) => name === "broken" && number > item.number),
  );
  expect(await eventsOf(item)).toEqual(["inbox-opened", "inbox-closed"]);
  await home.json("inbox", "answer", String(again.number), "ack");
  expect(await stateEverywhere(again)).toEqual(["acknowledged", "acknowledged", "acknowledged"]);
  expect((await listed()).items.map(({ number }) => number)).not.toContain(again.number);
  await askDaemon(home, `/v1/inbox/${again.number}`, { answer: "snooze", for_seconds: 1 });
  expect(await eventually("it is back", async () => (await itemOf("broken", "failure")).state)).toBe("open");
  expect(await eventsOf(again)).toEqual(["inbox-opened", "inbox-acknowledged", "inbox-snoozed", "inbox-opened"]);
});

test("two who answer at the same moment restart it once; the second hears that it is over", async () => {
  const mayLive = join(home.dir, "may-live");
  const script = `[ -e '${mayLive}' ] && exec sleep 600; exit 3`;
  await home.run(["start", "command", "--name", "fallen", "--", "sh", "-c", script]);
  const { number } = await itemOf("fallen", "failure");
  writeFileSync(mayLive, "");
  const answer = (): Promise<unknown> => askDaemon(home, `/v1/inbox/${number}`, { answer: "restart" });
  const answers = await Promise.all([answer(), answer()]);
  expect(answers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ done: true }),
      expect.objectContaining({ code: "item-closed", kind: "conflict" }),
    ]),
  );
  const starts = (await home.events()).filter(
    ({ type, data }) => type === "session-starting" && data["incarnation"] !== 1,
  );
  const { session_id: id } = await home.session("fallen");
  expect(starts.filter(({ session_id: whose }) => whose === id)).toHaveLength(1);
  await home.json("end", "fallen", "--when", "now");
});

test("inbox next asks on a terminal, and one key answers; else it prints", async () => {
  await home.json("start", "practice", "--name", "chooser", "ask for a key");
  const item = await itemOf("chooser", "approval");
  const printed = await home.run(["inbox", "next"]);
  expect(printed.stdout).toContain(`${item.number}. chooser asks: Run "for a key"?`);
  expect(printed.stdout).toContain("What Reeve did");
  expect(await home.json("inbox", "next")).toMatchObject({ item: { item_id: item.item_id } });
  const terminal = await openTerminal(home, `${join(import.meta.dirname, "../../bin/reeve")} inbox next`);
  try {
    await eventually("it asks", async () => (await terminal.screen()).includes("Your answer: a (approve)"));
    await terminal.press("dney", "Enter");
    await eventually("it asks again", async () => (await terminal.screen()).includes("did you mean deny?"));
    await terminal.press("d", "Enter");
    await eventually("it says what came of it", async () => /denied: chooser asks/.test(await terminal.screen()));
  } finally {
    await terminal.close();
  }
  expect(await stateEverywhere(item)).toEqual(["closed", "closed", "closed"]);
  expect(await home.json("inbox", "show", String(item.number))).toMatchObject({ item: { state: "closed" } });
});

test("bad input changes nothing and is told in a sentence", async () => {
  const before = (await home.wishes()).length;
  const item = await itemOf("broken", "failure");
  const n = String(item.number);
  const refused = async (...words: readonly string[]): Promise<readonly unknown[]> => {
    const { status, stdout } = await home.run(["inbox", ...words, "--json"]);
    const { error } = JSON.parse(stdout) as { error: { code: string } };
    return [status, error.code];
  };
  expect(await refused("answer", "9999", "approve")).toEqual([1, "unknown-item"]);
  expect(await refused("show", "9999")).toEqual([1, "unknown-item"]);
  expect(await refused("show")).toEqual([2, "missing-argument"]);
  expect(await refused("show", n, "--all")).toEqual([2, "unknown-option"]);
  expect(await refused("answer", "nonsense", "approve")).toEqual([2, "bad-request"]);
  expect(await refused("answer", n, "approve")).toEqual([2, "answer-does-not-fit"]);
  expect(await refused("answer", n, "perhaps")).toEqual([2, "unknown-answer"]);
  expect(await refused("answer", n, "snooze", "2020-01-01T00:00")).toEqual([2, "time-passed"]);
  expect(await refused("answer", n, "snooze", "soon")).toEqual([2, "bad-time"]);
  expect(await refused("answer", n, "restart", "now")).toEqual([2, "unexpected-text"]);
  expect(await refused("answer", n)).toEqual([2, "missing-argument"]);
  expect(await refused("next", n)).toEqual([2, "unexpected-argument"]);
  for (const body of [{ answer: "snooze" }, { answer: "snooze", until: "2020-01-01T00:00:00Z" }, { answer: "ack" }])
    expect(await askDaemon(home, `/v1/inbox/${n}`, body)).toHaveProperty("kind", "usage");
  expect((await home.wishes()).length).toBe(before);
});

test("it is the operator's: a session may neither read nor answer it", async () => {
  const sleeper = await startSleeper(home, "sleeper");
  const pass = await passOf(home, sleeper);
  expect(await askWithPass(home, pass, "/v1/inbox")).toMatchObject({ code: "not-allowed" });
  const { number } = await itemOf("broken", "failure");
  expect(await askWithPass(home, pass, `/v1/inbox/${number}`, { answer: "end" })).toMatchObject({
    code: "not-allowed",
  });
});
