/**
 * A real agent is the orchestrator. Its worker is killed -9 in the
 * middle of a turn, and the orchestrator gets the wake as a turn of its own: by
 * its protocol where it has one, else typed into its composer.
 */
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { orchestratorOf } from "../support/orchestrator.ts";
import type { AgentCase } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { isIdle } from "./session-steps.ts";

interface Timed {
  readonly at: string;
}

describe.each<AgentCase & { readonly by: string }>([
  { ...CASES.codexAppServer, by: "turn" },
  { ...CASES.claude, by: "typed" },
  { ...CASES.gemini, by: "typed" },
])("$title", { timeout: 180_000 }, (agentCase) => {
  const rig = rigOf(agentCase);

  test("the death of its worker is a turn of its own, once", async () => {
    const { home } = rig();
    const { session_id: id, name } = await rig().start("[[say ready]]");
    await rig().wait(id, "--since", "0", "--for", "turn-completed", "--timeout", "60");
    await eventually("it is idle", () => isIdle(rig(), id), 30_000);
    const boss = orchestratorOf(home, id, name);
    const worker = await boss.startWorker("worker", "sleep 600");
    expect(worker.notifications).toMatchObject({ to: id, by: agentCase.by });
    await eventually("it works", async () => (await home.session("worker"))["turn_open"]);
    for (const { pid } of home.marked(worker.session_id))
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended with the one before.
      }
    const killedAt = Date.now();
    const wake = await eventually("it was woken", async () => (await boss.wakes())[0], 30_000);
    const died = (await home.events()).find(
      ({ session_id, type }) => session_id === worker.session_id && type === "session-exited",
    );
    expect(wake.data).toMatchObject({ through: died?.seq, count: 1 });
    await eventually(
      "the turn of the wake is over",
      async () => {
        const { turns } = await home.session(name);
        return turns === 2 && (await isIdle(rig(), id));
      },
      60_000,
    );
    const wakesAsked = rig()
      .asked()
      .map(({ typed }) => typed.at(-1) ?? "")
      .filter((text) => text.includes("[reeve] wake"));
    expect(wakesAsked).toEqual([
      `[reeve] wake ${died?.seq}: 1 event for you since 0: worker exited. Not from your user. Truth: reeve list, reeve events --since 0, or the tool wait_for_session.`,
    ]);
    expect(await boss.lines()).toHaveLength(1);
    expect(await boss.wakes()).toHaveLength(1);
    const instant = (event: object): number => Date.parse((event as Timed).at);
    const ms = { afterKill: instant(wake) - killedAt, afterEvent: instant(wake) - instant(died ?? wake) };
    console.log(`${agentCase.title}: woken ${ms.afterKill} ms after the kill, ${ms.afterEvent} ms after the event`);
  });
});
