/** What an agent asks: listed, answered through Reeve or in the pane, gone with its turn or its process. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askDaemon, askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { pressInPane } from "../support/pane.ts";
import type { EventRow, SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

let home: TestHome;
let asker = "";
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
beforeEach(() => {
  asker = `asker-${++count}`;
});
afterAll(() => home.dispose());

interface Approvals {
  readonly approvals: readonly Readonly<Record<string, unknown>>[];
}

interface Answer {
  readonly state: string;
  readonly by: string | null;
}

async function startAsking(name: string, what: string): Promise<SessionRow> {
  await home.json("start", "practice", "--name", name, `ask ${what}`);
  return eventually("it asks", async () => {
    const session = await askSession(home, name);
    return session?.["activity"] === "awaiting-approval" && session;
  });
}

const isIdle = async (name: string): Promise<boolean> => (await askSession(home, name))?.["activity"] === "idle";

async function approvalEvents({ session_id }: SessionRow): Promise<readonly EventRow[]> {
  const { events } = await home.json<{ events: EventRow[] }>("events", session_id);
  return events.filter((event) => event.type.startsWith("approval-"));
}

async function lastAnswer(name: string): Promise<string | undefined> {
  await eventually("its turn is over", () => isIdle(name));
  const { messages } = await home.json<{ messages?: { role: string; text: string }[] }>("data", name);
  expect(messages?.filter((message) => message.role === "user")).toHaveLength(1);
  return messages?.findLast((message) => message.role === "assistant")?.text;
}

test("listed with what it asks, in words and as JSON", async () => {
  const session = await startAsking(asker, "to list files");
  expect(session).toMatchObject({ approvals: 1, asks: 'Run "to list files"?' });
  const { approvals } = await home.json<Approvals>("approvals", asker);
  expect(approvals).toEqual([
    {
      approval_id: "turn-1",
      session_id: session.session_id,
      session_name: asker,
      agent: "practice",
      kind: "command",
      title: 'Run "to list files"?',
      subject: "to list files",
      cwd: null,
      reason: null,
      requested_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
      answer: null,
      choices: null,
      answerable: true,
      how_to_answer: null,
    },
  ]);
  const { stdout, status } = await home.run(["approvals"]);
  expect(status).toBe(0);
  expect(stdout).toContain(asker);
  expect(stdout).toContain('Run "to list files"?');
});

test.each([
  { verb: "approve", decision: "approved", says: 'I ran "to list files".' },
  { verb: "deny", decision: "denied", says: 'I did not run "to list files".' },
])("$verb takes effect in the agent, once, and the log tells the story", async ({ verb, decision, says }) => {
  const session = await startAsking(asker, "to list files");
  expect(await home.json(verb, asker)).toMatchObject({
    approval_id: "turn-1",
    session_id: session.session_id,
    title: 'Run "to list files"?',
    state: "settled",
    decision,
    by: "operator",
    detail: "approval-answered hook, turn 1",
  });
  expect(await lastAnswer(asker)).toBe(says);
  expect((await home.json<Approvals>("approvals", asker)).approvals).toEqual([]);
  const events = await approvalEvents(session);
  expect(events.map(({ type, data }) => ({ type, ...data }))).toMatchObject([
    { type: "approval-requested", approval: { id: "turn-1", title: 'Run "to list files"?' } },
    { type: "approval-answer-requested", approval_id: "turn-1", decision },
    { type: "approval-settled", approval_id: "turn-1", decision, by: "operator", title: 'Run "to list files"?' },
  ]);
});

test("answered in the pane: settled by pane, and an answer that comes later is refused", async () => {
  const session = await startAsking(asker, "to list files");
  await pressInPane(home, session.session_id, "n");
  expect(await lastAnswer(asker)).toBe('I did not run "to list files".');
  expect((await approvalEvents(session)).map(({ type, data }) => ({ type, ...data }))).toMatchObject([
    { type: "approval-requested" },
    { type: "approval-settled", decision: "denied", by: "pane" },
  ]);
  for (const args of [
    ["approve", asker],
    ["deny", asker, "turn-1"],
    ["approve", asker, "turn-9"],
  ]) {
    const { status, stdout } = await home.run([...args, "--json"]);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "approval-stale" } });
  }
  expect(await lastAnswer(asker)).toBe('I did not run "to list files".');
});

test("the id of an earlier question does not answer the one that is asked now", async () => {
  await startAsking(asker, "first");
  await home.json("deny", asker, "turn-1");
  await eventually("its turn is over", () => isIdle(asker));
  await home.json("send", asker, "ask second");
  await eventually("it asks again", async () => (await askSession(home, asker))?.["approvals"] === 1);
  const { status, stdout } = await home.run(["approve", asker, "turn-1", "--json"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "approval-stale" } });
  expect((await askSession(home, asker))?.["asks"]).toBe('Run "second"?');
  expect(await home.json("approve", asker, "turn-2")).toMatchObject({ state: "settled", decision: "approved" });
});

test("two sessions asking at once get each its own answer", async () => {
  const other = `${asker}-other`;
  const sessions = await Promise.all([startAsking(asker, "one"), startAsking(other, "two")]);
  const { approvals } = await home.json<Approvals>("approvals");
  expect(approvals.map((approval) => approval["session_name"])).toEqual(expect.arrayContaining([asker, other]));
  const answers = await Promise.all([home.json<Answer>("approve", asker), home.json<Answer>("deny", other)]);
  expect(answers.map(({ state, by }) => [state, by])).toEqual([
    ["settled", "operator"],
    ["settled", "operator"],
  ]);
  expect(await lastAnswer(asker)).toBe('I ran "one".');
  expect(await lastAnswer(other)).toBe('I did not run "two".');
  for (const session of sessions) expect(await approvalEvents(session)).toHaveLength(3);
});

test("several answers to one question: the first counts, the same is given once, another is refused", async () => {
  await startAsking(asker, "to list files");
  await home.json("pause", asker);
  const same = [home.json<Answer>("approve", asker), home.json<Answer>("approve", asker)];
  await eventually("it is to be approved", async () => {
    const found = await askDaemon<Approvals>(home, `/v1/approvals?session=${asker}`);
    return found?.approvals[0]?.["answer"] === "approved";
  });
  const { status, stdout } = await home.run(["deny", asker, "--json"]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "approval-answered" } });
  await home.json("resume", asker);
  expect((await Promise.all(same)).map((answer) => answer.state)).toEqual(["settled", "settled"]);
  expect(await lastAnswer(asker)).toBe('I ran "to list files".');
});

test.each(["--suspend", "--detach"])(
  "paused with %s while it asks: the answer is held back until it goes on",
  async (how) => {
    const session = await startAsking(asker, "to list files");
    await home.json("pause", asker, ...(how === "--suspend" ? [how] : []));
    const answer = home.json<Answer>("approve", asker);
    await eventually("the answer is recorded", async () => (await approvalEvents(session)).length === 2);
    expect(await askSession(home, asker)).toMatchObject({ state: "paused", approvals: 1, turn_open: true });
    await home.json("resume", asker);
    expect(await answer).toMatchObject({ state: "settled", decision: "approved", by: "operator" });
    expect(await lastAnswer(asker)).toBe('I ran "to list files".');
  },
);

test("a turn that is interrupted asks no longer", async () => {
  const session = await startAsking(asker, "to list files");
  await pressInPane(home, session.session_id, "Escape");
  const settled = await eventually("it lapses", async () =>
    (await approvalEvents(session)).find((event) => event.type === "approval-settled"),
  );
  expect(settled.data).toMatchObject({ decision: null, by: "agent" });
  expect(await askSession(home, asker)).toMatchObject({ approvals: 0, asks: null, last_turn: "interrupted" });
  expect((await home.run(["approve", asker])).status).toBe(1);
});

test("a process that dies asks no longer, also with an answer on its way; its next one asks anew", async () => {
  const session = await startAsking(asker, "to list files");
  await home.json("pause", asker);
  const answer = home.run(["approve", asker, "--json"]);
  await eventually("the answer is recorded", async () => (await approvalEvents(session)).length === 2);
  for (const { pid } of home.marked(session.session_id)) killIfThere(pid);
  const settled = await eventually("it lapses", async () =>
    (await approvalEvents(session)).find((event) => event.type === "approval-settled"),
  );
  expect(settled.data).toMatchObject({ decision: null, by: "agent" });
  const { status, stdout } = await answer;
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ state: "settled", decision: null, by: "agent" });
  expect((await home.json<Approvals>("approvals", asker)).approvals).toEqual([]);
  await home.json("restart", asker);
  await eventually("it is idle", () => isIdle(asker));
  await home.json("send", asker, "ask again");
  await eventually("it asks again", async () => (await askSession(home, asker))?.["approvals"] === 1);
  expect(await home.json("deny", asker)).toMatchObject({ approval_id: "turn-2", state: "settled", decision: "denied" });
});

// Delivery types whatever waits into a session that asks, since `send` is also how a question is answered
// (src/supervisor/effect/delivery.ts, nextStep): it is called delivered, and the question swallows it.
test("a message that waited before it asked is no answer: it is taken when the turn is over", async () => {
  await home.json("start", "practice", "--name", asker, "ask to list files", "--", "--pace", "2000");
  await eventually("it works", async () => (await askSession(home, asker))?.["activity"] === "working");
  await home.json("send", asker, "something else", "--timeout", "0");
  await eventually("it asks", async () => (await askSession(home, asker))?.["approvals"] === 1);
  await home.json("approve", asker);
  await eventually("its turn is over", () => isIdle(asker));
  await eventually("it went on to the next", async () => (await askSession(home, asker))?.["turns"] === 2);
});

test("of two questions the one on the screen is answered, and it alone", async () => {
  await home.json("start", "practice", "--name", asker, "ask-both rm one | rm two");
  const { approvals } = await eventually("both are open", async () => {
    const found = await home.json<Approvals>("approvals", asker);
    return found.approvals.length === 2 && found;
  });
  expect(approvals.map(({ title }) => title)).toEqual(['Run "rm one"?', 'Run "rm two"?']);
  const [first, second] = approvals.map(({ approval_id }) => String(approval_id)) as [string, string];
  const early = await home.run(["approve", asker, second, "--json"]);
  expect(early.status).not.toBe(0);
  expect(JSON.parse(early.stdout)).toMatchObject({
    state: "failed",
    detail: expect.stringContaining("Another question is on the screen") as string,
  });
  expect(await home.json("deny", asker, first)).toMatchObject({ state: "settled", decision: "denied" });
  expect((await home.json<Approvals>("approvals", asker)).approvals).toMatchObject([{ approval_id: second }]);
  expect(await home.json("approve", asker, second)).toMatchObject({ state: "settled", decision: "approved" });
  expect(await lastAnswer(asker)).toBe('I did not run "rm one".\nI ran "rm two".');
});

test("a question that is too long for one row is recognised all the same", async () => {
  const session = await startAsking(asker, `to ${"list every file there is ".repeat(7)}`);
  expect(String(session["asks"]).length).toBeGreaterThan(150);
  expect(await home.json("approve", asker)).toMatchObject({ state: "settled", decision: "approved" });
});
