/**
 * Restarts of the real agents: after a first turn of which nothing is left to
 * resume, after a kill -9 in the middle of something, and one that cannot come
 * up.
 */
import { rmSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { sideBySide } from "../support/side-by-side.ts";
import type { Result } from "../support/test-home.ts";
import type { AgentCase, Rig } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { atWork, endNow, isIdle, press, refusalOf } from "./session-steps.ts";

const PATIENCE = 180_000;

async function kill(rig: Rig, id: string): Promise<void> {
  const cursor = await rig.cursor(id);
  for (const { pid } of rig.home.marked(id)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // it went with its parent
    }
  }
  expect(await rig.wait(id, "--since", cursor, "--for", "exited")).toMatchObject({ reason: "exited" });
}

const restart = (rig: Rig, id: string): Promise<Result> =>
  rig.home.run(["restart", id, "--json"], { environment: rig.user.environment });

async function comesUp(rig: Rig, id: string): Promise<string | null> {
  const result = await restart(rig, id);
  expect(result).toMatchObject({ status: 0 });
  await eventually("it is ready again", () => isIdle(rig, id), 60_000);
  return (JSON.parse(result.stdout) as { note: string | null }).note;
}

async function takesMessage(rig: Rig, id: string): Promise<void> {
  const sent = await rig.home.json<{ state: string; cursor: number }>(
    "send",
    id,
    "[[say I am here]]",
    "--timeout",
    "30",
  );
  expect(sent.state).toBe("delivered");
  const waited = await rig.wait(id, "--since", String(sent.cursor), "--for", "turn-completed");
  expect(waited).toMatchObject({ done: true, reason: "turn-completed" });
}

/** What it was said to be doing since the restart. */
async function activitiesOfSecond(rig: Rig, id: string): Promise<readonly string[]> {
  const events = await rig.events(id);
  const at = events.findIndex(({ type, data }) => type === "session-starting" && data["incarnation"] === 2);
  return events
    .slice(at)
    .flatMap(({ type, data }) =>
      type === "activity-changed" ? [(data["activity"] as { status: string }).status] : [],
    );
}

sideBySide("gemini, of whose only turn nothing is left", { timeout: PATIENCE }, () => {
  const rig = rigOf(CASES.gemini);

  const turns: readonly (readonly [how: string, prompt: string, act: (id: string) => Promise<unknown>])[] = [
    ["failed", "[[status 400]]", async () => undefined],
    ["was interrupted", "[[delay 60s]] [[say too late]]", (id) => press(rig(), id, "Escape")],
    ["was denied", "[[shell touch never]] [[say done]]", (id) => rig().home.json("deny", id)],
  ];
  test.each(turns)("its turn %s: it comes up with a new conversation, and says so", async (_how, prompt, act) => {
    const { session_id: id } = await rig().start(prompt);
    if (prompt.includes("shell")) await rig().wait(id, "--since", "0", "--for", "awaiting-approval");
    if (prompt.includes("delay")) await atWork(rig(), id, prompt);
    await act(id);
    const over = ["--for", "turn-failed", "--for", "turn-interrupted"];
    expect((await rig().wait(id, "--since", "0", ...over)).reason).toMatch(/^turn-/);
    const before = (await rig().data(id)).session.observability.native_id;
    await kill(rig(), id);
    expect(await comesUp(rig(), id)).toMatch(/new conversation/);
    await takesMessage(rig(), id);
    const { session, messages } = await rig().data(id);
    expect(session.observability.native_id).not.toBe(before);
    expect(messages?.at(-1)).toMatchObject({ role: "assistant", text: "I am here" });
    await endNow(rig(), id);
  });
});

sideBySide("codex with its app-server, killed before its first turn", { timeout: PATIENCE }, () => {
  const rig = rigOf(CASES.codexAppServer);

  // Its thread is made, and kept, before the first turn.
  test("it resumes its conversation", async () => {
    const { session_id: id } = await rig().start(null);
    await eventually("it is ready", () => isIdle(rig(), id), 60_000);
    const before = (await rig().data(id)).session.observability.native_id;
    await kill(rig(), id);
    expect(await comesUp(rig(), id)).toBeNull();
    await takesMessage(rig(), id);
    expect((await rig().data(id)).session.observability.native_id).toBe(before);
    await endNow(rig(), id);
  });
});

sideBySide.each([CASES.codexHooks, CASES.claude])(
  "$title, killed before its first turn",
  { timeout: PATIENCE },
  (agentCase) => {
    const rig = rigOf(agentCase);

    test("a restart says that there was nothing to resume yet, as an answer and as an event", async () => {
      const { session_id: id } = await rig().start(null);
      await eventually("it is ready", () => isIdle(rig(), id), 60_000);
      await kill(rig(), id);
      expect(await comesUp(rig(), id)).toBe("It began a new conversation: there was nothing to resume yet.");
      const told = (await rig().events(id)).findLast(({ type }) => type === "session-running");
      expect(told?.data["reason"]).toMatchObject({ code: "new-conversation" });
      await takesMessage(rig(), id);
      await endNow(rig(), id);
    });
  },
);

sideBySide("claude, force-stopped, with a restart policy", { timeout: PATIENCE }, () => {
  const rig = rigOf(CASES.claude);

  test("it is error, and then runs again in the same conversation", async () => {
    const { session_id: id } = await rig().start("[[say hello]]", { options: ["--restart", "on-failure"] });
    await rig().wait(id, "--since", "0", "--for", "turn-completed");
    const before = (await rig().data(id)).session.observability.native_id;
    await kill(rig(), id);
    await eventually("it was started again", async () => (await rig().home.session(id))["restarts"] === 1, 30_000);
    await eventually("it is ready again", () => isIdle(rig(), id), 60_000);
    await takesMessage(rig(), id);
    const { session, messages } = await rig().data(id);
    expect(session.observability.native_id).toBe(before);
    expect(messages?.filter(({ role }) => role === "assistant").map(({ text }) => text)).toEqual([
      "hello",
      "I am here",
    ]);
    const told = (await rig().events(id)).map(({ type }) => type);
    expect(told.filter((type) => /^session-errored$|^restart-/.test(type))).toEqual([
      "session-errored",
      "restart-scheduled",
    ]);
    await endNow(rig(), id);
  });
});

sideBySide("claude without a line to resume", { timeout: PATIENCE }, () => {
  const rig = rigOf(CASES.claude);

  test("killed before its first line was written, it comes up with a new conversation", async () => {
    const { session_id: id } = await rig().start("[[say hello]]");
    await rig().wait(id, "--since", "0", "--for", "turn-completed");
    await kill(rig(), id);
    const path = (await rig().data(id)).session.observability.transcript_path ?? "";
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(
      path,
      lines
        .slice(
          0,
          lines.findIndex((line) => line.includes('"type":"user"')),
        )
        .join("\n"),
    );
    expect(await comesUp(rig(), id)).toMatch(/new conversation/);
    await takesMessage(rig(), id);
    await endNow(rig(), id);
  });

  test("a conversation that is gone is not replaced: the restart says what the agent said", async () => {
    const { session_id: id } = await rig().start("[[say hello]]");
    await rig().wait(id, "--since", "0", "--for", "turn-completed");
    await kill(rig(), id);
    rmSync((await rig().data(id)).session.observability.transcript_path ?? "");
    const result = await restart(rig(), id);
    expect(result.status).toBe(1);
    expect(refusalOf(result)).toMatchObject({
      code: "did-not-come-up",
      message: expect.stringContaining("No conversation found") as string,
    });
    await endNow(rig(), id);
  });
});

sideBySide.each([CASES.codexHooks, CASES.codexAppServer] as readonly AgentCase[])(
  "$title, whose rollout is gone",
  { timeout: PATIENCE },
  (agentCase) => {
    const rig = rigOf(agentCase);

    test("its conversation is not replaced: the restart says what the agent said", async () => {
      const { session_id: id } = await rig().start("[[say hello]]");
      await rig().wait(id, "--since", "0", "--for", "turn-completed");
      await kill(rig(), id);
      rmSync((await rig().data(id)).session.observability.transcript_path ?? "");
      const result = await restart(rig(), id);
      expect(result.status).toBe(1);
      expect(refusalOf(result)).toMatchObject({
        code: "did-not-come-up",
        message: expect.stringMatching(/no rollout found/i) as string,
      });
      await endNow(rig(), id);
    });
  },
);

sideBySide.each([CASES.codexHooks, CASES.codexAppServer, CASES.gemini, CASES.claude] as readonly AgentCase[])(
  "$title, killed while it asks",
  { timeout: PATIENCE },
  (agentCase) => {
    const rig = rigOf(agentCase);

    test("its title and its question do not count for the next one", async () => {
      const { session_id: id } = await rig().start("[[shell touch asked]] [[say done]]");
      expect(await rig().wait(id, "--since", "0")).toMatchObject({ reason: "awaiting-approval" });
      await kill(rig(), id);
      await comesUp(rig(), id);
      await takesMessage(rig(), id);
      expect(await activitiesOfSecond(rig(), id)).toEqual(["idle", "working", "idle"]);
      expect((await rig().events(id)).filter(({ type }) => type === "approval-requested")).toHaveLength(1);
      await endNow(rig(), id);
    });
  },
);
