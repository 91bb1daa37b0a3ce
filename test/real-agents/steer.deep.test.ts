/**
 * A word into a turn that is under way: it reaches the model once, and nothing
 * stays behind. And a person who types in the pane at the same time: what Reeve
 * sends waits for a pause, and neither ends up in the other.
 */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { sideBySide } from "../support/side-by-side.ts";
import type { Rig } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { atWork, attachPerson, endNow, happened, isIdle, refusalOf, screenOf, timesSaid } from "./session-steps.ts";

const PAUSE_SECONDS = 3;

const ONE_TURN = ["turn-started", "turn-completed"];
const steered = [
  // Without a tool's result to go along with, Claude Code makes it the next turn (2.1.325).
  { agentCase: CASES.claude, told: [...ONE_TURN, ...ONE_TURN], allowed: ["--allowedTools", "Bash(sleep:*)"] },
  { agentCase: CASES.codexAppServer, told: ONE_TURN, allowed: [] },
  { agentCase: CASES.codexHooks, told: ONE_TURN, allowed: [] },
] as const;

sideBySide.each(steered)("$agentCase.title", { timeout: 90_000 }, ({ agentCase, told, allowed }) => {
  const rig = rigOf(agentCase);

  test("a word into a turn reaches the model once, and nothing is left of it", async () => {
    const prompt = "[[delay 4s]] [[say the first answer]]";
    // Not over at once: a queued turn of Claude Code's is told of by its transcript, which is read a little later.
    const word = "[[delay 1s]] [[say and a word in between]]";
    const { session_id: id } = await rig().start(prompt);
    await atWork(rig(), id, prompt);
    const sent = await rig().home.json("send", id, word, "--steer", "--timeout", "30");
    expect(sent).toMatchObject({ state: "delivered" });
    expect(await happened(rig(), id, "turn-")).toEqual(["turn-started"]);
    await eventually(
      "it was answered",
      () =>
        rig()
          .asked()
          .some((request) => request.prompt === word && request.outcome === "answered"),
      60_000,
    );
    await eventually(
      "all of it is told",
      async () => (await happened(rig(), id, "turn-")).length >= told.length && (await isIdle(rig(), id)),
      30_000,
    );
    expect(await happened(rig(), id, "turn-")).toEqual(told);
    expect(await happened(rig(), id, "message-")).toEqual(["message-admitted", "message-delivered"]);
    expect(timesSaid(rig().asked().at(-1), word)).toBe(1);
    expect(timesSaid(rig().asked().at(-1), prompt)).toBe(1);
    await nothingQueued(rig(), id, "--steer");
    await endNow(rig(), id);
  });

  test("with a tool's result to go along with, it is part of that turn", async () => {
    const prompt = "[[shell sleep 3]] [[say the first answer]]";
    const word = "[[say after the tool]]";
    const { session_id: id } = await rig().start(prompt, { args: allowed });
    const hasCalled = (): boolean =>
      rig()
        .asked()
        .some((request) => request.prompt === prompt && request.outcome === "answered");
    await eventually("the model called its tool", hasCalled, 60_000);
    const sent = await rig().home.json("send", id, word, "--steer", "--timeout", "30");
    expect(sent).toMatchObject({ state: "delivered" });
    expect(await rig().wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed" });
    expect(timesSaid(rig().asked().at(-1), word)).toBe(1);
    await nothingQueued(rig(), id);
    expect(await happened(rig(), id, "turn-")).toEqual([...ONE_TURN, ...ONE_TURN]);
    await endNow(rig(), id);
  });
});

sideBySide("gemini", { timeout: 90_000 }, () => {
  const rig = rigOf(CASES.gemini);

  test("takes nothing into a turn, and says so", async () => {
    const prompt = "[[delay 2s]] [[say undisturbed]]";
    const { session_id: id } = await rig().start(prompt);
    await atWork(rig(), id, prompt);
    const refused = await rig().home.run(["send", id, "[[say a word]]", "--steer", "--json"]);
    expect(refused.status).toBe(2);
    expect(refusalOf(refused)).toMatchObject({
      code: "steer-unsupported",
      message: expect.stringContaining("--steer"),
    });
    expect(await rig().wait(id, "--since", "0")).toMatchObject({ reason: "turn-completed", session: { turns: 1 } });
    await nothingQueued(rig(), id);
    await endNow(rig(), id);
  });
});

sideBySide("claude, with a person at its terminal", { timeout: 90_000 }, () => {
  const rig = rigOf(CASES.claude, { config: `[sessions]\ntyping_pause_seconds = ${PAUSE_SECONDS}\n` });

  test("what is sent while they type comes after it, and neither is in the other", async () => {
    const { session_id: id } = await rig().start("[[say ready]]");
    await rig().wait(id, "--since", "0", "--for", "turn-completed");
    const person = await attachPerson(rig(), id);
    try {
      person.type("[[say typed");
      await eventually("it is in the composer", async () => (await screenOf(rig(), id)).includes("[[say typed"));
      const message = "[[say sent meanwhile]]";
      expect(await rig().home.json("send", id, message, "--timeout", "0")).toMatchObject({ state: "admitted" });
      person.type(" by hand]]");
      await eventually("they wrote on", async () => (await screenOf(rig(), id)).includes("[[say typed by hand]]"));
      expect(await happened(rig(), id, "message-")).toEqual(["message-admitted"]);
      person.type("\r");
      const enteredAt = Date.now();
      await eventually(
        "both were answered",
        async () => (await happened(rig(), id, "turn-completed")).length === 3 && (await isIdle(rig(), id)),
        60_000,
      );
      expect(
        rig()
          .asked()
          .map((request) => request.prompt),
      ).toEqual(["[[say ready]]", "[[say typed by hand]]", message]);
      // A second less, because the terminal tells of keys in whole seconds.
      const sentAt = rig().asked().at(-1)?.at ?? 0;
      expect(sentAt - enteredAt).toBeGreaterThan((PAUSE_SECONDS - 1) * 1_000);
    } finally {
      await person.leave();
    }
    await nothingQueued(rig(), id);
    await endNow(rig(), id);
  });

  test("a draft that they leave in the composer does not become part of what is sent", async () => {
    const { session_id: id } = await rig().start("[[say ready]]");
    await rig().wait(id, "--since", "0", "--for", "turn-completed");
    const person = await attachPerson(rig(), id);
    try {
      person.type("a draft");
      await eventually("it is in the composer", async () => (await screenOf(rig(), id)).includes("a draft"));
      const message = "[[say sent to a draft]]";
      const sent = await rig().home.json("send", id, message, "--timeout", String(PAUSE_SECONDS + 3));
      expect(sent).toMatchObject({
        state: "admitted",
        detail: expect.stringContaining("unsent text in its input") as string,
      });
      expect((await screenOf(rig(), id)).includes("a draft")).toBe(true);
      person.type(" of theirs");
      await eventually("they wrote on", async () => (await screenOf(rig(), id)).includes("a draft of theirs"));
      person.type("\r");
      const prompts = (): readonly string[] =>
        rig()
          .asked()
          .map((request) => request.prompt);
      await eventually("both were sent", () => prompts().includes(message), 60_000);
      expect(prompts().slice(-2)).toEqual(["a draft of theirs", message]);
    } finally {
      await person.leave();
      await endNow(rig(), id);
    }
  });
});

/** Neither in Reeve's mailbox nor in the agent's own queue: the next message is answered next, and nothing else. */
async function nothingQueued(rig: Rig, id: string, ...options: readonly string[]): Promise<void> {
  const before = rig.asked().length;
  const turns = (await happened(rig, id, "turn-started")).length;
  const text = "[[say nothing else]]";
  const sent = await rig.home.json<{ state: string; cursor: number }>("send", id, text, "--timeout", "30", ...options);
  expect(sent.state).toBe("delivered");
  expect(await rig.wait(id, "--since", String(sent.cursor))).toMatchObject({ reason: "turn-completed" });
  expect(
    rig
      .asked()
      .slice(before)
      .map((request) => request.prompt),
  ).toEqual([text]);
  expect(await happened(rig, id, "turn-started")).toHaveLength(turns + 1);
}
