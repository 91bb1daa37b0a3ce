/**
 * A session is woken when something happens to the sessions
 * that it started, without asking again and again.
 */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { idle, keepBusy, letGo, type Orchestrator, type Started, startOrchestrator } from "../support/orchestrator.ts";
import { killIfThere } from "../support/kill.ts";
import { pressInPane } from "../support/pane.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";

async function eventOf(home: TestHome, sessionId: string, type: string): Promise<EventRow> {
  return await eventually(`${type} of ${sessionId}`, async () =>
    (await home.events()).find((event) => event.session_id === sessionId && event.type === type),
  );
}

async function screenOf(home: TestHome, name: string): Promise<string> {
  return (await home.json<{ text?: string }>("data", name, "--source", "screen")).text ?? "";
}

/** For what must not have come: another worker's end is told, and only that. */
async function nextWakeIsFor(home: TestHome, boss: Orchestrator, name: string): Promise<void> {
  const before = (await boss.wakes()).length;
  const worker = await boss.startWorker(name, "Say hello");
  const { seq } = await eventOf(home, worker.session_id, "turn-completed");
  await eventually(`it was woken for ${name}`, async () => (await boss.wakes()).length > before);
  expect((await boss.wakes())[before]?.data).toMatchObject({ through: seq, count: 1 });
}

test.concurrent("a turn end, a question and a death each wake the one who started it, once", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    const worker = await boss.startWorker("fix-tests", "Say hello");
    expect(worker.notifications).toMatchObject({ to: boss.id, by: "typed" });
    expect(worker.notifications.armed).toEqual([
      "turn-completed",
      "turn-failed",
      "turn-interrupted",
      "awaiting-approval",
      "awaiting-input",
      "exited",
      "stalled",
    ]);
    const completed = await eventOf(home, worker.session_id, "turn-completed");
    const [first] = await eventually("it was woken", async () => {
      const wakes = await boss.wakes();
      return wakes.length > 0 && wakes;
    });
    expect(first?.data).toMatchObject({ since: 0, through: completed.seq, count: 1 });
    await idle(home, "boss");
    expect(await boss.lines()).toEqual([
      `[reeve] wake ${completed.seq}: 1 event for you since 0: fix-tests turn-completed. Not from your user. Truth: reeve list, reeve events --since 0, or the tool wait_for_session.`,
    ]);

    await boss.json("send", "fix-tests", "ask to run the tests");
    const asked = await eventOf(home, worker.session_id, "approval-requested");
    await eventually("it was woken again", async () => (await boss.wakes()).length === 2);
    await idle(home, "boss");
    expect((await boss.wakes())[1]?.data).toMatchObject({ since: completed.seq, through: asked.seq, count: 1 });
    expect((await boss.lines())[1]).toContain(": fix-tests awaiting-approval. Not from your user.");

    const { runtime } = await home.session("fix-tests");
    for (const { pid } of home.marked(worker.session_id)) if (pid !== runtime.pid) killIfThere(pid);
    if (runtime.pid !== null) killIfThere(runtime.pid);
    const died = await eventOf(home, worker.session_id, "session-exited");
    await eventually("it was woken for the death", async () => (await boss.wakes()).length === 3);
    expect((await boss.wakes())[2]?.data).toMatchObject({ since: asked.seq, through: died.seq, count: 1 });
    expect(await home.session("boss")).toMatchObject({ wakes: { acknowledged: died.seq, message_id: null } });
  }));

test.concurrent("what happens while it works is one wake when it rests, with the count", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    await keepBusy(home, "boss");
    const names = ["a", "b", "c", "d"];
    const workers = await Promise.all(names.map((name) => boss.startWorker(name, "Say hello")));
    for (const { session_id } of workers) await eventOf(home, session_id, "turn-completed");
    for (const { session_id } of workers)
      for (const { pid } of home.marked(session_id)) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It ended with the one before.
        }
      }
    const deaths = await Promise.all(workers.map(({ session_id }) => eventOf(home, session_id, "session-exited")));
    expect(await home.session("boss")).toMatchObject({ turn_open: true });
    expect(await boss.wakes()).toEqual([]);
    await letGo(home, "boss");
    const [wake] = await eventually("it was woken", async () => {
      const wakes = await boss.wakes();
      return wakes.length > 0 && wakes;
    });
    const through = Math.max(...deaths.map(({ seq }) => seq));
    expect(wake?.data).toMatchObject({ since: 0, through, count: 8 });
    const ended = (await home.events()).filter(
      (event) => event.session_id === boss.id && event.type === "turn-completed",
    );
    expect(wake?.seq).toBeGreaterThan(ended[0]?.seq ?? Number.POSITIVE_INFINITY);
    await idle(home, "boss");
    expect(await boss.lines()).toHaveLength(1);
    expect((await boss.lines())[0]).toMatch(/: 8 events for you since 0: (?:[a-d] exited(?:, | )){3}\(\+5 more\)\. /);
  }));

test.concurrent("what it learnt from a wait, or did itself, does not wake it", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    await keepBusy(home, "boss");
    const worker = await boss.startWorker("waited-for", "Say hello");
    expect((await boss.run(["wait", "waited-for", "--timeout", "30"])).status).toBe(0);
    const { seq } = await eventOf(home, worker.session_id, "turn-completed");
    const told = (await home.session("boss"))["wakes"] as { acknowledged: number };
    expect(told.acknowledged).toBeGreaterThanOrEqual(seq);
    await boss.startWorker("interrupted", "sleep 60");
    await eventually("it works", async () => (await home.session("interrupted"))["turn_open"]);
    await boss.json("send", "interrupted", "Say hello", "--interrupt");
    const stopped = await eventOf(home, (await home.session("interrupted")).session_id, "turn-interrupted");
    expect(stopped.data).toMatchObject({ asked_by: `session:${boss.id}` });
    expect((await boss.run(["wait", "interrupted", "--timeout", "30"])).status).toBe(0);
    await boss.json("end", "waited-for", "interrupted", "--when", "now");
    await letGo(home, "boss");
    await idle(home, "boss");
    await nextWakeIsFor(home, boss, "other");
    expect(await boss.wakes()).toHaveLength(1);
  }));

test.concurrent("a start says what is armed, and that is so", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    const mine = await home.json<Started>("start", "practice", "--name", "mine", "Say hello");
    expect(mine.notifications).toMatchObject({ armed: [], to: null, by: "none" });
    const silent = await boss.startWorker("silent", "Say hello", "--no-wakes");
    expect(silent.notifications).toMatchObject({ armed: [], to: boss.id, by: "none" });
    const picky = await boss.startWorker("picky", "Say hello", "--notify", "exited");
    expect(picky.notifications).toMatchObject({ armed: ["exited"], to: boss.id, by: "typed" });
    expect(await home.session("picky")).toMatchObject({ notify: ["exited"], parent_session_id: boss.id });
    for (const { session_id } of [mine, silent, picky]) await eventOf(home, session_id, "turn-completed");
    await nextWakeIsFor(home, boss, "all-of-it");
    await idle(home, "boss");
    await home.json("end", "picky", "--when", "now");
    const ended = await eventOf(home, picky.session_id, "session-exited");
    expect(ended.data).toMatchObject({ asked_by: "operator" });
    await eventually("it was woken for the end", async () => (await boss.wakes()).length === 2);
    expect((await boss.wakes())[1]?.data).toMatchObject({ through: ended.seq, count: 1 });

    const refused = await home.run(["start", "practice", "--notify", "exited", "--json"]);
    expect(refused.status).toBe(2);
    expect(JSON.parse(refused.stdout || refused.stderr)).toMatchObject({ error: { code: "nobody-to-notify" } });
    expect((await home.run(["explain", "picky"])).stdout).toContain("For: exited.");
    expect((await home.run(["explain", "boss"])).stdout).toMatch(
      /It has been told of the sessions that it started up to/,
    );
  }));

test.concurrent("a session that is paused is woken once it goes on; with wakes switched off, none is", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    await home.json("pause", "boss");
    const worker = await boss.startWorker("fix", "Say hello");
    const { seq } = await eventOf(home, worker.session_id, "turn-completed");
    expect(await home.session("boss")).toMatchObject({ wakes: { acknowledged: 0, message_id: null } });
    await home.json("resume", "boss");
    await eventually("it was woken", async () => (await boss.wakes()).length === 1);
    expect((await boss.wakes())[0]?.data).toMatchObject({ through: seq, count: 1 });
    await idle(home, "boss");

    home.configure("[sessions]\nwakes = false\n");
    await home.json("daemon", "restart");
    const later = await boss.startWorker("later", "Say hello");
    expect(later.notifications).toMatchObject({ armed: [], by: "none" });
    await eventOf(home, later.session_id, "turn-completed");
    home.configure("");
    await home.json("daemon", "restart");
    await nextWakeIsFor(home, boss, "last");
    expect(await boss.wakes()).toHaveLength(2);
  }));

test.concurrent("a wake waits for a person's draft, and is not typed onto it", () =>
  inHome("", async (home) => {
    const boss = await startOrchestrator(home);
    const worker = await boss.startWorker("fix");
    await idle(home, "fix");
    await pressInPane(home, boss.id, "-l", "my own dra");
    await eventually("the draft stands there", async () => (await screenOf(home, "boss")).includes("my own dra"));
    await home.json("end", "fix", "--when", "now");
    const { seq } = await eventOf(home, worker.session_id, "session-exited");
    const waits = await eventually("it waits", async () => {
      const { messages } = await home.json<{ messages: { detail: string | null; sent_by: string }[] }>(
        "messages",
        "boss",
      );
      return messages.find(({ detail }) => detail?.includes("unsent text") === true);
    });
    expect(waits.sent_by).toBe("system");
    expect((await home.run(["messages", "boss"])).stdout).toContain("Reeve itself");
    expect(await boss.wakes()).toEqual([]);
    await pressInPane(home, boss.id, "C-u");
    await eventually("it was woken", async () => (await boss.wakes()).length === 1);
    expect((await boss.wakes())[0]?.data).toMatchObject({ through: seq, count: 1 });
    expect(await boss.lines()).toHaveLength(1);
    expect(await screenOf(home, "boss")).not.toContain("my own dra");
  }));
