/**
 * The gate's share of agent-suite.ts: each real agent goes once through its life. Its start takes seconds, so one
 * session serves all of it, step by step. The model answers when the test says so, and never after a time.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentCase, Rig } from "./rig.ts";
import { createRig } from "./rig.ts";
import { atWork, endNow, happened, isIdle, turn } from "./session-steps.ts";
import { eventually } from "../support/eventually.ts";

/** Far longer than all of it takes on a busy machine. */
const PATIENCE = 300_000;

export function describeLife(agentCase: AgentCase): void {
  describe(`${agentCase.title}, once through its life`, { timeout: PATIENCE }, () => {
    let rig: Rig;
    let id: string;
    beforeAll(async () => {
      rig = await createRig(agentCase);
    }, PATIENCE);
    afterAll(async () => {
      await rig.dispose();
    }, PATIENCE);

    test("its first turn: listed and looked at while it works, then waited for", async () => {
      const answer = join(rig.workDir, "answer-1");
      const prompt = `[[until ${answer}]] [[say the secret word is heron]]`;
      id = (await rig.start(prompt)).session_id;
      expect((await rig.home.list()).map((row) => row.session_id)).toContain(id);
      await atWork(rig, id, prompt);
      const early = await rig.data(id);
      expect(early.session.liveness).toBe("running");
      expect(early.session.observability.status === "observable" || early.session.observability.expected).toBe(true);
      expect(early.session["guidance"]).toMatch(/wait for its notification|idle/);
      writeFileSync(answer, "");
      expect(await rig.wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({ done: true });
      const late = await rig.data(id);
      expect(late.source).toBe("transcript");
      expect(late.messages?.at(-1)).toMatchObject({ role: "assistant", text: "the secret word is heron" });
    });

    test("an approval: asked once, approved, and only then its command runs", async () => {
      const file = join(rig.workDir, "approved");
      const sent = await rig.home.json<{ cursor: number }>("send", id, `[[shell touch ${file}]] [[say done with it]]`);
      const since = String(sent.cursor);
      expect(await rig.wait(id, "--since", since, "--for", "awaiting-approval")).toMatchObject({ done: true });
      const { approvals } = await rig.home.json<{ approvals: readonly unknown[] }>("approvals", id);
      expect(approvals).toMatchObject([{ subject: expect.stringContaining(`touch ${file}`) as string }]);
      expect(existsSync(file)).toBe(false);
      expect(await rig.home.json("approve", id)).toMatchObject({ decision: "approved", by: "operator" });
      expect(await rig.wait(id, "--since", since, "--for", "turn-completed")).toMatchObject({ done: true });
      expect(existsSync(file)).toBe(true);
    });

    test("the daemon dies in mid-turn: the next one goes on waiting, and tells of one turn", async () => {
      const answer = join(rig.workDir, "answer-2");
      const prompt = `[[until ${answer}]] [[say survived]]`;
      const before = await happened(rig, id, "turn-");
      const sent = await rig.home.json<{ cursor: number }>("send", id, prompt, "--timeout", "60");
      await atWork(rig, id, prompt);
      await rig.home.killDaemon();
      writeFileSync(answer, "");
      const since = String(sent.cursor);
      expect(await rig.wait(id, "--since", since, "--for", "turn-completed")).toMatchObject({ done: true });
      expect((await rig.data(id)).messages?.at(-1)).toMatchObject({ role: "assistant", text: "survived" });
      expect((await happened(rig, id, "turn-")).slice(before.length)).toEqual(["turn-started", "turn-completed"]);
    });

    test("a restart continues the same conversation", async () => {
      const before = (await rig.data(id)).session.observability.native_id;
      await rig.restart(id);
      await eventually("it is ready again", () => isIdle(rig, id), PATIENCE);
      await turn(rig, id, "[[say still here]]");
      expect((await rig.data(id)).session.observability.native_id).toBe(before);
      const shown = rig.asked().at(-1)?.messages ?? [];
      expect(shown.filter(({ text }) => text === "the secret word is heron")).toHaveLength(1);
    });

    test("its end leaves no process", async () => {
      await endNow(rig, id);
      expect(await rig.home.session(id)).toMatchObject({ state: "stopped", liveness: "exited" });
    });
  });
}
