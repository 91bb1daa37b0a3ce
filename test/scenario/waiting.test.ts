/**
 * Waiting at the speed of a person or a script: what was asked last has often been answered by the time
 * somebody waits for it. A wait without a cursor tells what became of it, or says at once that nothing will.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { pressInPane } from "../support/pane.ts";
import type { Result, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

/** Takes lines at a cooked terminal: one that is too long is refused. */
const LINES = `#!/bin/sh
printf 'ready>'
while read -r line; do printf 'working...'; sleep 0.3; printf '\\r\\033[Kdid %s\\nready>' "$line"; done
`;

let home: TestHome;
let name = "";
let count = 0;
beforeAll(() => {
  home = createTestHome();
  const program = join(home.dir, "lines");
  writeFileSync(program, LINES, { mode: 0o755 });
  home.configure(`[agent.lines]\ncommand = ["${program}"]\nready = '^ready>$'\nworking = '^working\\.\\.\\.$'\n`);
});
beforeEach(() => {
  name = `helper-${++count}`;
});
afterAll(() => home.dispose());

interface Waited {
  readonly status: number | null;
  readonly done: boolean;
  readonly ok: boolean;
  readonly reason: string;
  readonly why: string | null;
  readonly cursor: number;
  readonly session: { readonly turns: number };
}

/** Long enough for any machine: what is to be told at once is not told by the time-out. */
const PATIENCE = ["--timeout", "60"];

async function wait(...words: readonly string[]): Promise<Waited> {
  return answerOf(await home.run(["wait", name, "--json", ...PATIENCE, ...words]));
}

function answerOf(result: Result): Waited {
  const lines = result.stdout.trim().split("\n");
  expect(lines, result.stderr).toHaveLength(1);
  return { status: result.status, ...(JSON.parse(lines[0] ?? "") as Omit<Waited, "status">) };
}

const becomes = (activity: string, turns: number): Promise<unknown> =>
  eventually(`it is ${activity} in turn ${turns}`, async () => {
    const session = await askSession(home, name);
    return session?.["activity"] === activity && session["turns"] === turns;
  });

test("a start, and a wait long after its turn", async () => {
  await home.json("start", "practice", "--name", name, "say hello");
  await becomes("idle", 1);
  expect(await wait()).toMatchObject({ status: 0, done: true, ok: true, reason: "turn-completed", why: null });
  // Nothing was asked since: the same answer, at once, also from another daemon.
  await home.killDaemon();
  expect(await wait()).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 1 } });
});

test("a send, and a wait long after its turn", async () => {
  await home.json("start", "practice", "--name", name, "say hello");
  await becomes("idle", 1);
  await home.json("send", name, "fail for once");
  await becomes("idle", 2);
  expect(await wait()).toMatchObject({ done: true, ok: false, reason: "turn-failed", session: { turns: 2 } });
  await home.json("send", name, "say more");
  await becomes("idle", 3);
  await home.killDaemon();
  expect(await wait()).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 3 } });
});

test.each(["approve", "deny"])("%s, and a wait long after its turn", async (verb) => {
  await home.json("start", "practice", "--name", name, "ask rm -r build");
  expect(await wait()).toMatchObject({ done: true, ok: false, reason: "awaiting-approval" });
  await home.json(verb, name);
  await becomes("idle", 1);
  expect(await wait()).toMatchObject({ status: 0, reason: "turn-completed" });
});

test("what is typed in the pane is waited for like anything else", async () => {
  const { session_id } = await home.json<{ session_id: string }>("start", "practice", "--name", name, "fail first");
  await becomes("idle", 1);
  await pressInPane(home, session_id, "sleep 1", "Enter");
  await becomes("working", 2);
  expect(await wait()).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 2 } });
  expect(await wait()).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 2 } });
});

test("a message sent during a turn: the end of that turn is not its answer", async () => {
  await home.json("start", "practice", "--name", name, "sleep 2");
  await becomes("working", 1);
  const { cursor } = await home.json<{ cursor: number }>("send", name, "fail on purpose", "--timeout", "0");
  const [plain, since] = await Promise.all([wait(), wait("--since", String(cursor))]);
  for (const waited of [plain, since])
    expect(waited).toMatchObject({ done: true, reason: "turn-failed", session: { turns: 2 } });
  // Also for those who come when all is over, and ask about the first of two.
  await home.json("send", name, "say more");
  await becomes("idle", 3);
  expect(await wait("--since", String(cursor))).toMatchObject({ reason: "turn-failed" });
  expect(await wait()).toMatchObject({ reason: "turn-completed" });
});

test("an agent that is never asked anything has nothing to wait for, and says so once it is ready", async () => {
  await home.json("start", "practice", "--name", name);
  expect(await wait()).toMatchObject({
    status: 16,
    done: false,
    ok: false,
    reason: "nothing-to-wait-for",
    why: expect.stringMatching(/without a prompt/) as string,
  });
  expect(await wait("--for", "turn-completed")).toMatchObject({ status: 16, reason: "nothing-to-wait-for" });
  const { status, stdout } = await home.run(["wait", name, ...PATIENCE]);
  expect({ status, stdout }).toEqual({
    status: 16,
    stdout: expect.stringContaining(`${name}: nothing-to-wait-for. It was started without a prompt`) as string,
  });
});

test("a session that has ended says so at once, with a cursor too", async () => {
  await home.json("start", "practice", "--name", name, "say hello");
  await becomes("idle", 1);
  await home.json("end", name);
  expect(await wait()).toMatchObject({ status: 14, done: true, ok: false, reason: "exited" });
  const { cursor } = await home.json<{ cursor: number }>("daemon", "status");
  expect(await wait("--since", String(cursor))).toMatchObject({ status: 14, reason: "exited" });
  // Its turn completed before that, and that is what is asked here.
  expect(await wait("--for", "turn-completed")).toMatchObject({ status: 0, reason: "turn-completed" });
});

test("a refused message brings no turn, and whoever waits is told", async () => {
  await home.json("start", "lines", "--name", name, "one");
  await becomes("idle", 1);
  const { stdout } = await home.run(["send", name, "y".repeat(5_000), "--json"]);
  const refused = JSON.parse(stdout) as { state: string; cursor: number };
  expect(refused.state).toBe("refused");
  const told = { status: 16, reason: "nothing-to-wait-for", why: expect.stringContaining("refused") as string };
  expect(await wait()).toMatchObject(told);
  expect(await wait("--since", String(refused.cursor))).toMatchObject(told);
  expect(await wait("--for", "turn-completed")).toMatchObject(told);
});

test("a message that waits in the mailbox is waited for, and at once it is told that a paused session does not take it", async () => {
  await home.json("start", "practice", "--name", name, "say hello");
  await becomes("idle", 1);
  await home.json("pause", name);
  await home.json("send", name, "say more", "--timeout", "60");
  const why = `It is paused, and what is sent to it is held back; let it go on with: reeve resume ${name}.`;
  expect(await wait()).toMatchObject({ status: 16, done: false, reason: "nothing-to-wait-for", why });
  const sent = await home.run(["send", name, "say even more", "--wait"]);
  expect([sent.status, sent.stderr]).toEqual([16, expect.stringContaining(why)]);
  await home.json("resume", name);
  expect(await wait()).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 3 } });
});

test("who waits for a session that is then paused is told", async () => {
  await home.json("start", "practice", "--name", name, "sleep 1000");
  await becomes("working", 1);
  const waiting = wait();
  await home.json("pause", name, "--suspend");
  expect(await waiting).toMatchObject({ status: 16, why: expect.stringContaining(`reeve resume ${name}`) as string });
  await home.json("resume", name);
});

test("an answer that was sent is on its way: the question before it is not told again", async () => {
  await home.json("start", "practice", "--name", name, "ask to list files");
  await becomes("awaiting-approval", 1);
  await home.json("send", name, "y");
  expect(await wait()).toMatchObject({ status: 0, reason: "turn-completed", session: { turns: 1 } });
});

test("the answer to a start is a cursor too", async () => {
  const { cursor } = await home.json<{ cursor: number }>("start", "practice", "--name", name, "say hello");
  await becomes("idle", 1);
  expect(await wait("--since", String(cursor))).toMatchObject({ status: 0, reason: "turn-completed" });
});

test("a wait that timed out goes on about the same thing by its cursor", async () => {
  // Longer than the next two commands take on a busy machine.
  await home.json("start", "practice", "--name", name, "sleep 6");
  await becomes("working", 1);
  await home.json("send", name, "say more", "--timeout", "0");
  const first = answerOf(await home.run(["wait", name, "--timeout", "0", "--json"]));
  expect(first).toMatchObject({ status: 75, reason: "timeout" });
  expect(await wait("--since", String(first.cursor))).toMatchObject({
    reason: "turn-completed",
    session: { turns: 2 },
  });
});

interface Reply {
  readonly source: string;
  readonly messages?: readonly { readonly role: string; readonly text: string }[];
}

test("send --wait, start --wait and approve --wait print what was said in that turn", async () => {
  const started = await home.run(["start", "practice", "--name", name, "first thing", "--wait"]);
  expect(started).toMatchObject({ status: 0, stdout: expect.stringContaining('You said: "first thing"') as string });
  const sent = await home.run(["send", name, "second thing", "--wait"]);
  expect(sent.status, sent.stderr).toBe(0);
  expect(sent.stdout).toContain('You said: "second thing"');
  expect(sent.stdout).not.toContain("first thing");

  await home.json("send", name, "ask rm -r build");
  await becomes("awaiting-approval", 3);
  const approved = await home.run(["approve", name, "--wait"]);
  expect(approved).toMatchObject({ status: 0, stdout: expect.stringContaining('I ran "rm -r build".') as string });
  await home.json("send", name, "ask rm -r build");
  await becomes("awaiting-approval", 4);
  const denied = await home.run(["deny", name, "--wait"]);
  expect(denied).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('I did not run "rm -r build".') as string,
  });
  expect(denied.stdout).not.toContain("second thing");
});

test("with --wait a script gets what the agent said and nothing else; how it ended is on stderr, whatever that was", async () => {
  const said = await home.run(["start", "practice", "--name", name, "first thing", "--wait"]);
  expect(said).toMatchObject({ status: 0, stdout: expect.stringMatching(/^You said: "first thing"\./) as string });
  const failed = await home.run(["send", name, "fail on purpose", "--wait"]);
  expect(failed).toMatchObject({ status: 10, stderr: expect.stringContaining(`${name}: turn-failed.`) as string });
  const asks = await home.run(["send", name, "ask rm -r build", "--wait"]);
  const asked = expect.stringContaining(`${name}: awaiting-approval. Run "rm -r build"?`) as string;
  expect(asks).toMatchObject({ status: 12, stdout: "", stderr: asked });
  const denied = await home.run(["deny", name, "--wait"]);
  expect(denied.stdout).toMatch(/^I did not run "rm -r build"\./);
  const dead = await home.run(["send", name, "crash", "--wait"]);
  expect(dead).toMatchObject({ status: 14, stdout: "", stderr: expect.stringContaining(`${name}: exited.`) as string });
});

test("send --wait during a turn prints the reply to this message; --json is one object", async () => {
  const { session_id: id } = await home.json<{ session_id: string }>("start", "practice", "--name", name, "sleep 1");
  await becomes("working", 1);
  const isRecorded = async (): Promise<boolean> =>
    (await home.events()).some((event) => event.session_id === id && event.type === "message-admitted");
  const [one, two] = await Promise.all([
    home.run(["send", name, "the middle one", "--wait", "--json"]),
    eventually("the first is recorded", isRecorded).then(() =>
      home.run(["send", name, "the last one", "--wait", "--json"]),
    ),
  ]);
  for (const [result, text, turns] of [
    [one, "the middle one", 2],
    [two, "the last one", 3],
  ] as const) {
    const answer = answerOf(result) as Waited & { readonly state: string; readonly reply: Reply };
    expect(answer).toMatchObject({ status: 0, done: true, ok: true, reason: "turn-completed", state: "delivered" });
    expect(answer.session.turns).toBeGreaterThanOrEqual(turns);
    expect(answer.reply.source).toBe("transcript");
    expect(answer.reply.messages?.map((message) => message.role)).toEqual(["assistant"]);
    expect(answer.reply.messages?.[0]?.text).toContain(text);
  }
});

test("send --wait of a refused message does not wait", async () => {
  await home.json("start", "lines", "--name", name, "one");
  await becomes("idle", 1);
  const { status, stdout } = await home.run(["send", name, "y".repeat(5_000), "--wait", "--json", ...PATIENCE]);
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ state: "refused", ok: false, reason: "nothing-to-wait-for", reply: null });
});
