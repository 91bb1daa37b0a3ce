/**
 * What every agent must show, run against the real program. One suite over all
 * of them: an agent that differs says so in its case, not here.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { runProgram } from "../support/test-home.ts";
import type { AgentCase, Rig } from "./rig.ts";
import { createRig } from "./rig.ts";
import { endNow, press, screenOf, turn } from "./session-steps.ts";
import { timelineOf } from "./timeline.ts";

/** Longer than any of them takes to start on a busy machine. */
const PATIENCE = 120_000;

export function describeAgent(agentCase: AgentCase): void {
  describe(agentCase.title, { timeout: PATIENCE }, () => {
    let rig: Rig;
    beforeAll(async () => {
      // A 429 would park the sessions of the tests that follow for a minute; quota.test.ts looks at that.
      rig = await createRig(agentCase, { config: "[sessions]\nstall_seconds = 4\n[quota]\nenabled = false\n" });
    });
    afterAll(async () => {
      await rig.dispose();
    }, 60_000);

    test("a first turn of ten seconds: listed, looked at, waited for", async () => {
      const askedAt = Date.now();
      const { session_id: id } = await rig.start("[[delay 10s]] [[say the answer is 42]]");
      expect((await rig.home.list()).map((row) => row.session_id)).toContain(id);
      const early = await rig.data(id);
      // While its turn is under way.
      expect(Date.now() - askedAt).toBeLessThan(10_000);
      expect(early.session.observability.status === "observable" || early.session.observability.expected).toBe(true);
      expect(early.session["guidance"]).toMatch(/wait for its notification|idle/);
      const waited = await rig.wait(id, "--since", "0", "--for", "turn-completed");
      const wokenAt = Date.now();
      expect(waited).toMatchObject({ done: true, reason: "turn-completed" });
      const answered = rig.asked().find((request) => request.prompt.includes("the answer is 42"));
      // By the end itself, not by looking now and then.
      expect(wokenAt - (answered?.finishedAt ?? 0)).toBeLessThan(5_000);
      const late = await rig.data(id);
      expect(late.source).toBe("transcript");
      expect(late.messages?.at(-1)).toMatchObject({ role: "assistant", text: "the answer is 42" });
      console.log(timelineOf(agentCase.title, await rig.events(id)));
      await endNow(rig, id);
    });

    const failing = [
      ["429", "[[status 429]]", agentCase.retriesForever ? "stalled" : "turn-failed"],
      ["500", "[[status 500]]", agentCase.retriesForever ? "stalled" : "turn-failed"],
      ["a model that hangs", "[[hang]]", "stalled"],
      ["a model that hangs in mid-sentence", "[[say once upon a time]] [[hang midway]]", "stalled"],
      ["a connection that drops", "[[disconnect]]", agentCase.retriesForever ? "stalled" : "turn-failed"],
    ] as const;
    // Side by side: each of them mostly waits.
    test("whatever the model does, its failure wakes with its reason", async () => {
      const told = failing.map(async ([what, prompt, awaited]) => {
        const { session_id: id } = await rig.start(prompt);
        const { done, reason } = await rig.wait(id, "--since", "0", "--for", awaited);
        const { liveness } = await rig.home.session(id);
        await endNow(rig, id);
        return { what, done, reason, liveness };
      });
      const expected = failing.map(([what, , reason]) => ({ what, done: true, reason, liveness: "running" }));
      expect(await Promise.all(told)).toEqual(expected);
    });

    test("Esc in the pane wakes with turn-interrupted, and the next message is a turn of its own", async () => {
      const { session_id: id } = await rig.start("[[delay 60s]] [[say too late]]");
      await started(rig, id);
      // As a person would: one that comes before that is ignored, or takes the prompt back into the composer.
      await eventually("it says that Esc stops it", async () =>
        /esc to (?:interrupt|cancel)/i.test(await screenOf(rig, id)),
      );
      const cursor = await rig.cursor(id);
      await press(rig, id, "Escape");
      // On a busy machine the turn may be silent for so long that it has stalled before.
      expect(await rig.wait(id, "--since", cursor, "--for", "turn-interrupted")).toMatchObject({
        done: true,
        reason: "turn-interrupted",
      });
      await turn(rig, id, "[[say after that]]");
      expect(promptsOf(rig).at(-1)).toBe("[[say after that]]");
      await endNow(rig, id);
    });

    test("kill -9 wakes with exited; a restart continues the same conversation", async () => {
      const { session_id: id } = await rig.start("[[say the secret word is heron]]");
      await rig.wait(id, "--since", "0", "--for", "turn-completed");
      const before = await rig.data(id);
      const cursor = await rig.cursor(id);
      for (const { pid } of rig.home.marked(id)) killIfThere(pid);
      expect(await rig.wait(id, "--since", cursor)).toMatchObject({ reason: "exited" });
      await rig.restart(id);
      await eventually("it is ready again", async () => (await rig.home.session(id))["activity"] === "idle", 60_000);
      await turn(rig, id, "[[say still here]]");
      const after = await rig.data(id);
      expect(after.session.observability.native_id).toBe(before.session.observability.native_id);
      const last = rig.asked().at(-1);
      expect(last?.messages.some((message) => message.text.includes("the secret word is heron"))).toBe(true);
      expect(promptsOf(rig).filter((prompt) => prompt.includes("heron"))).toHaveLength(1);
      await endNow(rig, id);
    });

    test("/quit wakes with exited", async () => {
      const { session_id: id } = await rig.start("[[say hello]]");
      await rig.wait(id, "--since", "0", "--for", "turn-completed");
      const cursor = await rig.cursor(id);
      await rig.home.json("send", id, "/quit");
      expect(await rig.wait(id, "--since", cursor, "--for", "exited")).toMatchObject({ reason: "exited" });
      expect(await rig.home.session(id)).toMatchObject({ state: "stopped" });
      await endNow(rig, id);
    });

    test("an approval: listed, approved, and the command ran; denied, and it did not", async () => {
      const approved = join(rig.workDir, "approved");
      const { session_id: id } = await rig.start(`[[shell touch ${approved}]] [[say done with it]]`);
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "awaiting-approval" });
      const { approvals } = await rig.home.json<{ approvals: readonly unknown[] }>("approvals", id);
      expect(approvals).toMatchObject([{ subject: expect.stringContaining(`touch ${approved}`) as string }]);
      expect(existsSync(approved)).toBe(false);
      const cursor = await rig.cursor(id);
      expect(await rig.home.json("approve", id)).toMatchObject({
        state: "settled",
        decision: "approved",
        by: "operator",
      });
      expect(await rig.wait(id, "--since", cursor, "--for", "turn-completed")).toMatchObject({ done: true });
      expect(existsSync(approved)).toBe(true);

      const denied = join(rig.workDir, "denied");
      const sent = await rig.home.json<{ cursor: number }>(
        "send",
        id,
        `[[shell touch ${denied}]] [[say it was denied]]`,
      );
      expect(await rig.wait(id, "--since", String(sent.cursor), "--for", "awaiting-approval")).toMatchObject({
        done: true,
      });
      expect(await rig.home.json("deny", id)).toMatchObject({ state: "settled", decision: "denied", by: "operator" });
      await eventually("the turn is over", async () => (await rig.home.session(id))["activity"] === "idle", 30_000);
      expect(existsSync(denied)).toBe(false);
      expect(await rig.home.run(["approve", id])).toMatchObject({ status: 1 });
      await endNow(rig, id);
    });

    test("an approval answered in the pane is noticed", async () => {
      const file = join(rig.workDir, "by-hand");
      const { session_id: id } = await rig.start(`[[shell touch ${file}]] [[say done with it]]`);
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "awaiting-approval" });
      const cursor = await rig.cursor(id);
      await eventually("the question is on the screen", async () => {
        const screen = await screenOf(rig, id);
        return /touch/.test(screen) && /1\.|❯|›|●/.test(screen);
      });
      await press(rig, id, "Enter");
      expect(await rig.wait(id, "--since", cursor, "--for", "turn-completed")).toMatchObject({ done: true });
      expect(existsSync(file)).toBe(true);
      const settled = (await rig.events(id)).filter((event) => event.type === "approval-settled");
      expect(settled.map((event) => event.data["by"])).not.toContain("operator");
      expect(settled).toHaveLength(1);
      await endNow(rig, id);
    });

    test("messages of one line, 200 lines and 20 KB, idle and while it works: each once and in order", async () => {
      const { session_id: id } = await rig.start("[[say ready]]");
      await rig.wait(id, "--since", "0", "--for", "turn-completed");
      const texts = [
        "[[say one]] a single line",
        `[[say two]]\n${Array.from({ length: 200 }, (_, line) => `line ${line}`).join("\n")}`,
        `[[say three]] ${"0123456789abcdef ".repeat(1_205)}`.slice(0, 20_480).trim(),
      ];
      for (const text of texts) await turn(rig, id, text);
      const slow = await rig.home.json<{ cursor: number }>(
        "send",
        id,
        "[[delay 4s]] [[say slowly]]",
        "--timeout",
        "30",
      );
      for (const text of texts)
        expect(await rig.home.json("send", id, text, "--timeout", "0")).toMatchObject({ state: "admitted" });
      await eventually(
        "all four turns are over",
        async () => {
          const turns = (await rig.events(id)).filter(
            ({ seq, type }) => seq > slow.cursor && type === "turn-completed",
          );
          return turns.length === 4;
        },
        60_000,
      );
      expect(promptsOf(rig).slice(-7).map(normal)).toEqual(
        [...texts, "[[delay 4s]] [[say slowly]]", ...texts].map(normal),
      );
      await endNow(rig, id);
    });

    test("the daemon dies in mid-turn: the next one goes on waiting, and the reply is there", async () => {
      const { session_id: id } = await rig.start("[[delay 6s]] [[say survived]]");
      await started(rig, id);
      await rig.home.killDaemon();
      expect(await rig.wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({ done: true });
      expect((await rig.data(id)).messages?.at(-1)).toMatchObject({ role: "assistant", text: "survived" });
      const types = (await rig.events(id)).map((event) => event.type);
      expect(types.filter((type) => type === "turn-started")).toHaveLength(1);
      expect(types.filter((type) => type === "turn-completed")).toHaveLength(1);
      await endNow(rig, id);
    });

    test("the daemon dies while something is asked: the next one lists it, and an answer takes effect", async () => {
      const file = join(rig.workDir, "asked-before");
      const { session_id: id } = await rig.start(`[[shell touch ${file}]] [[say done with it]]`);
      expect(await rig.wait(id, "--since", "0")).toMatchObject({ reason: "awaiting-approval" });
      await rig.home.killDaemon();
      const { approvals } = await rig.home.json<{ approvals: readonly unknown[] }>("approvals", id);
      expect(approvals).toHaveLength(1);
      expect(await rig.home.json("approve", id)).toMatchObject({
        state: "settled",
        decision: "approved",
        by: "operator",
      });
      expect(await rig.wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({ done: true });
      expect(existsSync(file)).toBe(true);
      await endNow(rig, id);
    });

    test("the tmux server dies, as in a reboot: a restart continues the conversation", async () => {
      const { session_id: id } = await rig.start("[[say the river is the Tollense]]");
      await rig.wait(id, "--since", "0", "--for", "turn-completed");
      const before = (await rig.data(id)).session.observability.native_id;
      const cursor = await rig.cursor(id);
      await runProgram("tmux", ["-S", rig.home.tmuxSocket, "kill-server"], rig.home.environment);
      expect(await rig.wait(id, "--since", cursor)).toMatchObject({ reason: "exited" });
      await rig.restart(id);
      await eventually("it is ready again", async () => (await rig.home.session(id))["activity"] === "idle", 60_000);
      await turn(rig, id, "[[say back again]]");
      expect((await rig.data(id)).session.observability.native_id).toBe(before);
      expect(
        rig
          .asked()
          .at(-1)
          ?.messages.some((message) => message.text.includes("Tollense")),
      ).toBe(true);
      await endNow(rig, id);
    });

    test("a message can interrupt the turn under way", async () => {
      const { session_id: id } = await rig.start("[[delay 60s]] [[say too late]]");
      await started(rig, id);
      await turn(rig, id, "[[say instead]]", "--interrupt");
      const types = (await rig.events(id)).map((event) => event.type).filter((type) => type.startsWith("turn-"));
      expect(types).toEqual(["turn-started", "turn-interrupted", "turn-started", "turn-completed"]);
      expect(promptsOf(rig).at(-1)).toBe("[[say instead]]");
      await endNow(rig, id);
    });

    test("end during the first turn waits for it, unless told to go on", async () => {
      const { session_id: id } = await rig.start("[[delay 6s]] [[say finished properly]]");
      await started(rig, id);
      const ended = await rig.home.json("end", id, "--when", "after-turn");
      expect(ended).toMatchObject({ done: true, session: { state: "stopped" } });
      expect(await rig.wait(id, "--since", "0", "--for", "exited")).toMatchObject({ done: true });
      const types = (await rig.events(id)).map((event) => event.type);
      expect(types.indexOf("turn-completed")).toBeGreaterThan(0);
      expect(types.indexOf("turn-completed")).toBeLessThan(types.indexOf("session-exited"));
    });
  });
}

async function started(rig: Rig, id: string): Promise<void> {
  await eventually(
    "its turn has begun",
    async () => (await rig.events(id)).some((event) => event.type === "turn-started"),
    60_000,
  );
  await eventually("the model was asked", () => {
    const last = rig.model.requests({ hidden: false }).at(-1);
    return last !== undefined && last.outcome === undefined;
  });
}

/** Of each turn once: a request that only brings a tool's result repeats the prompt. */
function promptsOf(rig: Rig): readonly string[] {
  const prompts = rig.asked().map((request) => request.prompt);
  return prompts.filter((prompt, index) => prompt !== prompts[index - 1]);
}

function normal(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // it went with its parent
  }
}
