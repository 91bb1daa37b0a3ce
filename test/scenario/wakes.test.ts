/**
 * Issue 10, waking: a session is woken when something happens to the sessions
 * that it started, without asking again and again.
 */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inHome } from "../support/in-home.ts";
import { idle, startOrchestrator } from "../support/orchestrator.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";

async function eventOf(home: TestHome, sessionId: string, type: string): Promise<EventRow> {
  return await eventually(`${type} of ${sessionId}`, async () =>
    (await home.events()).find((event) => event.session_id === sessionId && event.type === type),
  );
}

test("issue 10: a turn end, a question and a death each wake the one who started it, once", () =>
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
    for (const { pid } of home.marked(worker.session_id)) if (pid !== runtime.pid) process.kill(pid, "SIGKILL");
    process.kill(runtime.pid ?? 0, "SIGKILL");
    const died = await eventOf(home, worker.session_id, "session-exited");
    await eventually("it was woken for the death", async () => (await boss.wakes()).length === 3);
    expect((await boss.wakes())[2]?.data).toMatchObject({ since: asked.seq, through: died.seq, count: 1 });
    expect(await home.session("boss")).toMatchObject({ wakes: { acknowledged: died.seq, message_id: null } });
  }));
