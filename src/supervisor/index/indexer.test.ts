/** What follows transcripts, events and mail: nothing twice, nothing missing, no secret, and nobody waits for it. */
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { TranscriptMessage } from "../../agent/contract.ts";
import { mailKind, posted } from "../../fleet/mail.ts";
import { isDamage } from "../../search/index-file.ts";
import { createIndexProcess } from "../../search/index-process.ts";
import type { Ask } from "../../search/contract.ts";
import { putSession, removeEvents, removeSession } from "../../store/change.ts";
import { makeSession } from "../../store/store-fixture.ts";
import { agentWith, type Ground, makeGround, SECRET } from "../attention/watch-fixture.ts";
import { RAW_LOG } from "./call-rows.ts";
import { createIndexer, type Indexer } from "./indexer.ts";

/** Each line is a message: `{"role", "text", "at"?, "tokens"?}`. */
const agent = agentWith({
  readMessages: (lines) =>
    lines.map((line): TranscriptMessage => {
      const {
        role = "assistant",
        text,
        tool,
        at = "2026-11-17T10:00:00Z",
      } = JSON.parse(line) as Record<string, string>;
      const use = tool === undefined ? null : { id: null, name: tool, input: text ?? "", isError: false };
      return {
        role: role as "assistant",
        text: use === null ? (text ?? "") : "",
        tool: use,
        usage: null,
        at,
        turn: null,
      };
    }),
  readLine(line) {
    const { total } = JSON.parse(line) as { readonly total?: number };
    if (total === undefined) return null;
    const usage = { inputTokens: total, cachedInputTokens: 0, outputTokens: 1, costUsd: null };
    return { source: "transcript", detail: "line", usage: { kind: "total", usage } };
  },
});

let ground: Ground;
let indexer: Indexer;
let transcript: string;
let secrets: readonly { readonly ref: string; readonly value: string }[] | null;

beforeEach(async () => {
  secrets = [{ ref: "TOKEN", value: SECRET }];
  const { launch } = makeSession({ outputsRoot: "/" }, "s").identity;
  const persistence = { capture: "proxy", debugLog: null } as const;
  ground = await makeGround(agent, { identity: { launch: { ...launch, persistence } } });
  transcript = join(ground.home.directory, "transcript.jsonl");
  writeFileSync(transcript, "");
  await observe(transcript);
  open();
});
afterEach(async () => {
  await indexer.close();
  await ground.dispose();
});

async function observe(path: string): Promise<void> {
  const watch = { observability: { status: "observable", expected: true, reason: "", transcriptPath: path } } as const;
  const session = ground.session();
  const next = { ...session, revision: session.revision + 1, watch: { ...session.watch, ...watch } };
  await ground.store.commit({
    changes: [putSession(next)],
    events: [{ sessionId: "s", body: { type: "session-seen" } }],
  });
}

const searchPath = (): string => join(ground.home.directory, "search.db");

function open(): void {
  const { store, parts } = ground;
  const known = () => secrets;
  indexer = createIndexer({
    ...parts,
    store,
    index: createIndexProcess(searchPath(), parts.clock),
    secrets: { known, learn: async () => secrets },
    environment: {},
  });
  indexer.start();
}

const say = (...messages: readonly object[]): void =>
  appendFileSync(transcript, messages.map((message) => `${JSON.stringify(message)}\n`).join(""));

async function find(text: string, changes: Partial<Ask> = {}): Promise<readonly string[]> {
  const none = { sessionId: null, agent: null, role: null, since: null, until: null, page: null, allowed: null };
  const found = await indexer.find({ text, kinds: [], limit: 100, ...none, ...changes });
  return found.entries.map(({ excerpt }) => excerpt.text);
}

const happen = (turn: number): Promise<unknown> => {
  const evidence = { source: "hook", detail: "Stop hook", at: 1 } as const;
  return ground.store.commit({ events: [{ sessionId: "s", body: { type: "turn-completed", turn, evidence } }] });
};

async function eventuallyFound(text: string, expected: readonly string[]): Promise<void> {
  await eventually(`${text} is found`, async () => {
    await happen(1);
    return JSON.stringify([...(await find(text))].toSorted()) === JSON.stringify([...expected].toSorted());
  });
}

test("what is said is found, each message once, across restarts of the daemon", async () => {
  say({ text: "hello foo_bar" }, { role: "user", text: "please fix it" });
  await eventuallyFound("foo_bar", ["hello foo_bar"]);
  await indexer.close();
  say({ text: "and hello again" });
  open();
  await eventuallyFound("hello", ["hello foo_bar", "and hello again"]);
});

test("no secret gets into the file", async () => {
  say({ text: `the password is ${SECRET}, really` }, { tool: "Bash", text: `echo ${SECRET}` });
  await eventuallyFound("really", ["the password is [redacted], really"]);
  await eventuallyFound("bash", ["echo [redacted]"]);
  await indexer.close();
  expect(readFileSync(searchPath()).includes(SECRET)).toBe(false);
});

test("of a session whose secrets nobody knows any more, all that could be one is left out", async () => {
  secrets = null;
  say({ role: "tool", text: "env: whatever" }, { text: "the token 9f8e7d6c5b4a and plain words in src/app.ts" });
  await eventuallyFound("plain", ["the token [redacted] and plain words in src/app.ts"]);
  expect(await find("whatever")).toEqual([]);
});

test("a line of a megabyte, a broken line and half a line harm nothing", async () => {
  say({ text: `long ${"x ".repeat(700_000)}` }, { text: `cut ${"y ".repeat(50_000)} end` }, { text: "after" });
  appendFileSync(transcript, '{"text": "half');
  await eventuallyFound("after", ["after"]);
  expect(await find("long")).toEqual([]);
  expect(await find("cut")).toHaveLength(1);
  appendFileSync(transcript, ' a line"}\n');
  await eventuallyFound("half", ["half a line"]);
});

test("a transcript that was written anew is read anew", async () => {
  say({ text: "first words" });
  await eventuallyFound("words", ["first words"]);
  writeFileSync(`${transcript}.new`, `${JSON.stringify({ text: "second words" })}\n`);
  renameSync(`${transcript}.new`, transcript);
  await eventuallyFound("words", ["second words"]);
});

test("events and mail are found; retracted mail is not", async () => {
  const mail = posted(
    {
      id: "mail-1",
      thread: "mail-1",
      from: { caller: "operator", name: null },
      to: "s",
      addressed: "session",
      subject: "About the breakage",
      body: "connection refused",
      kind: "note",
      priority: "normal",
      inReplyTo: null,
      sentAt: 1_000,
    },
    1,
  );
  const about = { mailId: mail.id, thread: mail.thread, to: mail.to } as const;
  const sent = {
    type: "mail-sent",
    ...about,
    from: "operator",
    fromName: null,
    kind: "note",
    priority: "normal",
  } as const;
  await ground.store.commit({ changes: [mailKind.put(mail)], events: [{ sessionId: "s", body: sent }] });
  await eventuallyFound("refused", ["About the breakage connection refused"]);
  expect(await find("mail-sent", { kinds: ["event"] })).toHaveLength(1);
  await ground.store.commit({ events: [{ sessionId: "s", body: { type: "mail-retracted", ...about } }] });
  await eventuallyFound("refused", []);
});

test("what retention removed is gone from the index", async () => {
  say({ text: "word said" });
  await eventuallyFound("said", ["word said"]);
  const before = (await find("completed", { kinds: ["event"] })).length;
  expect(before).toBeGreaterThan(0);
  const events = await ground.store.log.read({ after: 0, limit: 1_000, types: ["turn-completed"] });
  await ground.store.commit({ changes: [removeEvents(events.map(({ seq }) => seq))] });
  await ground.store.commit({ changes: [removeSession(ground.session())] });
  const counts = { sessions: 1, events: events.length, mails: 0, workItems: 0, bytes: 0 };
  const pruned = { type: "pruned", ...counts, prunedThrough: ground.store.log.prunedThrough() } as const;
  await ground.store.commit({ events: [{ sessionId: null, body: pruned }] });
  await eventually("both are gone", async () => {
    const left = [...(await find("said")), ...(await find("completed", { kinds: ["event"] }))];
    return left.length === 0;
  });
});

test("an index that is damaged while the daemon runs is built again, and says so meanwhile", async () => {
  say({ text: "hello before" });
  await eventuallyFound("hello", ["hello before"]);
  await indexer.close();
  writeFileSync(searchPath(), "garbage".repeat(10_000));
  for (const suffix of ["-wal", "-shm"]) rmSync(searchPath() + suffix, { force: true });
  open();
  expect(indexer.progress().isComplete).toBe(false);
  await eventuallyFound("hello", ["hello before"]);
  expect(indexer.progress()).toEqual({ isComplete: true, sessionsDone: 0, sessions: 0 });
  const told = ground.home.logged.filter(({ message }) => message.includes("built from the beginning"));
  // The first time there was none.
  expect(told).toHaveLength(2);
  expect(told[1]?.fields).toMatchObject({ why: expect.stringContaining("not a database") as string });
});

test("an index of another home, or of a log that was lost, is built again", async () => {
  say({ text: "hello there" });
  await eventuallyFound("hello", ["hello there"]);
  await indexer.close();
  const thread = createIndexProcess(searchPath(), ground.parts.clock);
  await thread.reset("another");
  await thread.write({ epoch: (await thread.state()).epoch, entries: [], eventCursor: 1_000_000 });
  await thread.close();
  open();
  await eventuallyFound("hello", ["hello there"]);
});

test("where no index can be kept the search says why, and everything else goes on", async () => {
  await indexer.close();
  const nowhere = createIndexProcess(join(ground.home.directory, "missing", "search.db"), ground.parts.clock);
  indexer = createIndexer({
    ...ground.parts,
    index: nowhere,
    secrets: { known: () => secrets, learn: async () => secrets },
    environment: {},
  });
  indexer.start();
  await expect(find("anything")).rejects.toMatchObject({ code: "search-unavailable", kind: "unavailable" });
  await happen(1);
  mkdirSync(join(ground.home.directory, "missing"));
  expect(await find("turn")).toEqual(expect.any(Array));
});

test("numbers: turns from events, tokens from the transcript, calls from the raw log and what it was renamed to", async () => {
  const raw = join(ground.session().identity.outputsDir, RAW_LOG);
  const end = (latency: number, outcome = "complete"): string =>
    `${JSON.stringify({ v: 1, at: "2026-11-17T10:00:00.000Z", kind: "end", exchange: 1, outcome, status: 200, latency_ms: latency })}\n`;
  const chunk = `${JSON.stringify({ v: 1, at: "2026-11-17T10:00:00.000Z", kind: "chunk", body: '"kind":"end"' })}\n`;
  writeFileSync(raw, chunk + end(100));
  const evidence = { source: "hook", detail: "hook", at: 1 } as const;
  await ground.store.commit({ events: [{ sessionId: "s", body: { type: "turn-started", turn: 1, evidence } }] });
  await happen(1);
  say({ text: "one", total: 100 }, { text: "two", total: 150 });
  const numbers = () => indexer.numbers({ by: "agent", since: null, until: null, sessionIds: null });
  await eventually(
    "all is counted",
    async () => (await numbers())[0]?.calls?.count === 1 && (await numbers())[0]?.tokens !== null,
  );
  appendFileSync(raw, end(300));
  renameSync(raw, `${raw}.1`);
  writeFileSync(raw, end(200, "upstream-reset"));
  await happen(2);
  await eventually("the renamed file and the new one were read", async () => (await numbers())[0]?.calls?.count === 3);
  expect(await numbers()).toMatchObject([
    {
      group: "inline",
      turns: { completed: 2, failed: 0, interrupted: 0 },
      tokens: { input: 150, cached: 0, output: 1 },
      costUsd: null,
      calls: { count: 3, failed: 1, latencyMs: { p50: 200, p90: 300, p99: 300 } },
    },
  ]);
});

test("a full disk is no damage", () => {
  expect(isDamage(Object.assign(new Error("full"), { errcode: 13 }))).toBe(false);
  expect(isDamage(Object.assign(new Error("malformed"), { errcode: 11 }))).toBe(true);
});
