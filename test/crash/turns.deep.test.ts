/**
 * kill -9 of the daemon around what passes between it and an agent: answers to
 * its questions, interrupts, what was read of it. An answer is given at most
 * once and never lost in silence, a turn is counted once, an interrupt stops
 * the turn it was meant for and no other.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { askDaemon, askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { pressInPane } from "../support/pane.ts";
import { standInCodex } from "../support/stand-in-codex.ts";
import type { EventRow, SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";
import { crashingAt, expectEventLogComplete } from "./crashing.ts";

interface Answer {
  readonly state: string;
  readonly decision: string | null;
  readonly by: string | null;
  readonly detail: string | null;
}

/** These wait for ten seconds: begun before all others, each in a home of its own, and looked at last. */
const UNSURE = ["answer-given.after-commit", "answer.given"];
const FAILED = ["answer-failed.before-commit", "answer-failed.after-commit"];
const REPEATED = "asked for again";
const begun = new Map<string, Promise<void>>();

let shared: TestHome;
let worker = "";
let count = 0;
beforeAll(() => {
  for (const point of UNSURE)
    begun.set(
      point,
      inHome("", (home) => unsure(home, point)),
    );
  for (const point of FAILED)
    begun.set(
      point,
      inHome("", (home) => failed(home, point)),
    );
  begun.set(REPEATED, inHome("", repeated));
  for (const run of begun.values()) run.catch(() => undefined); // told by its test
  shared = createTestHome();
  shared.configure(`[sessions]\nstall_seconds = 1\n${standInCodex(shared).toml}`);
});
beforeEach(() => {
  worker = `worker-${++count}`;
});
afterAll(async () => {
  await Promise.allSettled(begun.values());
  await shared.dispose();
});

async function startPractice(home: TestHome, name: string, prompt: string, activity: string): Promise<SessionRow> {
  await home.json("start", "practice", "--name", name, prompt);
  return eventually(`it is ${activity}`, async () => {
    const session = await askSession(home, name);
    return session?.["activity"] === activity && session;
  });
}

async function eventsOf(home: TestHome, name: string, prefix: string): Promise<readonly EventRow[]> {
  const session = await home.session(name);
  return (await home.events()).filter(
    (event) => event.session_id === session.session_id && event.type.startsWith(prefix),
  );
}

const typesOf = async (home: TestHome, name: string, prefix: string): Promise<readonly string[]> =>
  (await eventsOf(home, name, prefix)).map((event) => event.type);

async function promptsOf(home: TestHome, name: string): Promise<readonly string[]> {
  const { messages } = await home.json<{ messages?: { role: string; text: string }[] }>("data", name);
  return messages?.filter((message) => message.role === "user").map((message) => message.text) ?? [];
}

/** What was typed beside the answer would now stand in front of this, or be a prompt of its own. */
async function expectNothingElseTyped(home: TestHome, name: string, before: readonly string[]): Promise<void> {
  await eventually("it is idle", async () => (await askSession(home, name))?.["activity"] === "idle");
  expect(await home.json("send", name, "and now")).toMatchObject({ state: "delivered" });
  expect(await promptsOf(home, name)).toEqual([...before, "and now"]);
}

/** Read without a daemon. */
function transcriptOf({ outputs_dir }: SessionRow): string {
  return readFileSync(join(String(outputs_dir), "transcript.jsonl"), "utf8");
}

async function answerThrough(home: TestHome, name: string, point: string): Promise<Answer> {
  let stdout = "";
  await crashingAt(home, point, async () => void ({ stdout } = await home.run(["approve", name, "--json"])));
  return JSON.parse(stdout) as Answer;
}

describe("an answer", () => {
  const points = [
    "answer.before-commit",
    "answer.after-commit",
    "answer.before-effect",
    "answer-given.before-commit",
    "answer.after-fact",
  ];
  test.each(points)("killed at %s: given once", async (point) => {
    await startPractice(shared, worker, "ask to list files", "awaiting-approval");
    if (point === "answer.before-commit")
      expect(await answerThrough(shared, worker, point)).toMatchObject({ state: "settled", decision: "approved" });
    else
      await crashingAt(shared, point, async () => {
        await askDaemon(shared, "/v1/approvals", { session: worker, decision: "approved" });
      });
    const events = await eventually("it is settled", async () => {
      const found = await eventsOf(shared, worker, "approval-");
      return found.at(-1)?.type === "approval-settled" && found;
    });
    expect(events.map((event) => event.type)).toEqual([
      "approval-requested",
      "approval-answer-requested",
      "approval-settled",
    ]);
    expect(events.at(-1)?.data).toMatchObject({ decision: "approved", by: "operator" });
    await expectNothingElseTyped(shared, worker, ["ask to list files"]);
    await expectEventLogComplete(shared);
  });

  test("that a person gave in the pane while there was no daemon is not given a second time", async () => {
    const session = await startPractice(shared, worker, "ask to list files", "awaiting-approval");
    await crashingAt(shared, "answer.after-commit", async () => {
      await askDaemon(shared, "/v1/approvals", { session: worker, decision: "approved" });
      await pressInPane(shared, session.session_id, "n");
      await eventually("its turn is over", () => transcriptOf(session).includes("turn_completed"));
    });
    const settled = await eventually("the answer is known", async () =>
      (await eventsOf(shared, worker, "approval-settled")).at(0),
    );
    expect(settled.data).toMatchObject({ decision: "denied", by: "pane" });
    await expectNothingElseTyped(shared, worker, ["ask to list files"]);
    expect((await typesOf(shared, worker, "turn-")).slice(0, 3)).toEqual([
      "turn-started",
      "turn-completed",
      "turn-started",
    ]);
  });
});

describe("a message that interrupts", () => {
  const points = ["interrupt.before-effect", "interrupt.after-fact", "read.before-commit", "read.after-commit"];
  test.each(points)("killed at %s: delivered once, and one turn interrupted", async (point) => {
    await startPractice(shared, worker, "sleep 30", "working");
    await crashingAt(shared, point, async () => {
      await shared.run(["send", worker, "go on", "--interrupt", "--timeout", "0"]);
    });
    await eventually("it is delivered", async () => (await typesOf(shared, worker, "message-delivered")).length === 1);
    await eventually("its turn is over", async () => (await askSession(shared, worker))?.["last_turn"] === "completed");
    expect(await typesOf(shared, worker, "turn-")).toEqual([
      "turn-started",
      "turn-interrupted",
      "turn-started",
      "turn-completed",
    ]);
    expect(await promptsOf(shared, worker)).toEqual(["sleep 30", "go on"]);
    expect(await typesOf(shared, worker, "message-")).toEqual(["message-admitted", "message-delivered"]);
    await expectEventLogComplete(shared);
  });

  test("leaves alone the turn that a person began after the one it was meant for", async () => {
    const session = await startPractice(shared, worker, "sleep 30", "working");
    await crashingAt(shared, "interrupt.before-effect", async () => {
      const path = `/v1/sessions/${session.session_id}/messages`;
      await askDaemon(shared, path, { text: "go on", how: "interrupt", timeout_seconds: 0 });
      await pressInPane(shared, session.session_id, "Escape");
      await eventually("it stopped", () => transcriptOf(session).includes("turn_interrupted"));
      await pressInPane(shared, session.session_id, "sleep 2 by hand", "Enter");
      await eventually("it works again", () => transcriptOf(session).includes("by hand"));
    });
    await eventually("all is done", async () => (await askSession(shared, worker))?.["turns"] === 3);
    await eventually("its turn is over", async () => (await askSession(shared, worker))?.["turn_open"] === false);
    expect(await typesOf(shared, worker, "turn-")).toEqual([
      "turn-started",
      "turn-interrupted",
      "turn-started",
      "turn-completed",
      "turn-started",
      "turn-completed",
    ]);
    expect(await promptsOf(shared, worker)).toEqual(["sleep 30", "sleep 2 by hand", "go on"]);
  });
});

describe("what was read", () => {
  test.each(["read.before-commit", "read.after-commit"])(
    "of a hook, killed at %s: its turn counts once",
    async (point) => {
      await crashingAt(shared, point, async () => {
        await shared.json("start", "practice", "--name", worker, "say something");
      });
      await eventually(
        "its turn is over",
        async () => (await askSession(shared, worker))?.["last_turn"] === "completed",
      );
      expect(await typesOf(shared, worker, "turn-")).toEqual(["turn-started", "turn-completed"]);
      const { outputs_dir } = await shared.session(worker);
      expect(readdirSync(join(String(outputs_dir), "spool"))).toEqual([]);
      await expectEventLogComplete(shared);
    },
  );

  test.each(["read-transcript.before-commit", "read-transcript.after-commit"])(
    "of a transcript, killed at %s: each turn counts once",
    async (point) => {
      const codex = standInCodex(shared);
      await codex.start(worker);
      codex.turn("t1", "go", "gone");
      await eventually(
        "its end is known",
        async () => (await askSession(shared, worker))?.["last_turn"] === "completed",
      );
      await crashingAt(shared, point, async () => {
        codex.turn("t2", "go on", "gone on");
        codex.turn("t3", "go further", "gone further");
        await eventually("the daemon is gone", async () => (await askSession(shared, worker)) === null);
        codex.turn("t4", "and back", "back again");
      });
      await eventually("all is read", async () => (await askSession(shared, worker))?.["turns"] === 4);
      const turns = await eventually("all are over", async () => {
        const found = await eventsOf(shared, worker, "turn-");
        return found.length === 8 && found;
      });
      expect(turns.map((event) => `${event.type} ${String(event.data["turn"])}`)).toEqual(
        [1, 2, 3, 4].flatMap((turn) => [`turn-started ${turn}`, `turn-completed ${turn}`]),
      );
      expect(await promptsOf(shared, worker)).toEqual(["go", "go on", "go further", "and back"]);
    },
  );

  test.each(["stalled.before-commit", "stalled.after-commit"])("nothing, killed at %s: said once", async (point) => {
    const codex = standInCodex(shared);
    await crashingAt(shared, point, async () => {
      await codex.start(worker);
      await eventually("the daemon is gone", async () => (await askSession(shared, worker)) === null);
    });
    await eventually("it is said", async () => (await typesOf(shared, worker, "session-stalled")).length > 0);
    const { stalled_since } = await shared.session(worker);
    expect(stalled_since).not.toBeNull();
    codex.turn("t1", "go", "gone");
    await eventually("it is over", async () => (await askSession(shared, worker))?.["stalled_since"] === null);
    expect(await typesOf(shared, worker, "session-stalled")).toHaveLength(1);
  });
});

describe("an answer of which nobody knows whether it was given", () => {
  test.each(UNSURE)("killed at %s: not given again, and that is said", (point) => begun.get(point));
  test("asked for again with the same key, after it took effect: that is said", () => begun.get(REPEATED));
  test.each(FAILED)("or rather that it could not be, killed at %s: said once", (point) => begun.get(point));
});

async function unsure(home: TestHome, point: string): Promise<void> {
  await startPractice(home, "asker", "ask to list files", "awaiting-approval");
  const answer = await answerThrough(home, "asker", point);
  expect(answer).toMatchObject({ state: "failed", detail: expect.stringMatching(/still asks/) as string });
  expect(await home.json("approvals")).toMatchObject({ approvals: [{ approval_id: "turn-1", answer: null }] });
  expect(await home.json("approve", "asker")).toMatchObject({ state: "settled", by: "operator" });
  await expectNothingElseTyped(home, "asker", ["ask to list files"]);
  expect(await typesOf(home, "asker", "approval-")).toEqual([
    "approval-requested",
    "approval-answer-requested",
    "approval-answer-failed",
    "approval-answer-requested",
    "approval-settled",
  ]);
  await expectEventLogComplete(home);
}

async function repeated(home: TestHome): Promise<void> {
  await startPractice(home, "asker", "ask to list files", "awaiting-approval");
  const answer = (): Promise<Answer | null> =>
    askDaemon(home, "/v1/approvals", { session: "asker", decision: "approved" }, "one-key");
  const first = await answer();
  expect(first).toMatchObject({ state: "settled", decision: "approved" });
  expect(await answer()).toMatchObject({ state: "settled", decision: "approved" });
}

async function failed(home: TestHome, point: string): Promise<void> {
  const codex = standInCodex(home);
  home.configure(codex.toml);
  await codex.start("asker");
  codex.hook("PermissionRequest", { turn_id: "t1", tool_name: "Bash", tool_input: { command: "ls" } });
  await eventually("it asks", async () => (await askSession(home, "asker"))?.["approvals"] === 1);
  await crashingAt(home, point, async () => {
    await askDaemon(home, "/v1/approvals", { session: "asker", decision: "approved" });
  });
  await eventually("it failed", async () => (await typesOf(home, "asker", "approval-answer-failed")).length > 0);
  expect(await home.json("approvals")).toMatchObject({ approvals: [{ answer: null }] });
  expect(await typesOf(home, "asker", "approval-")).toEqual([
    "approval-requested",
    "approval-answer-requested",
    "approval-answer-failed",
  ]);
  await expectEventLogComplete(home);
}
