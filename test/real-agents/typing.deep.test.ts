/**
 * What is typed into a real agent's composer: nothing but the
 * message, whatever a killed daemon or a person left there, and delivered only
 * when the agent says that it took this text.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Rig } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";
import { endNow, happened, isIdle, press, screenOf } from "./session-steps.ts";

const LONG = `[[say long]]\n${Array.from({ length: 200 }, (_, line) => `row ${line}`).join("\n")}`;
const texts = [
  ["one line", "[[say short]] alpha"],
  ["two lines", "[[say two]] alpha\nand one more"],
  ["200 lines", LONG],
  ["a shell's mark and a backslash", "! [[say odd]]\talpha \\"],
] as const;

const typed = [CASES.claude, CASES.codexHooks, CASES.gemini];

describe.each(typed)("$title", { timeout: 240_000 }, (agentCase) => {
  let rig: Rig;
  let id = "";
  beforeAll(async () => {
    rig = await createRig(agentCase);
    ({ session_id: id } = await rig.start("[[say ready]]"));
    await rig.wait(id, "--since", "0", "--for", "turn-completed");
  }, 120_000);
  afterAll(() => disposeWhole(rig), 60_000);

  /** Since now. */
  function promptsAfter(before: number): readonly string[] {
    const prompts = rig.asked().slice(before);
    return prompts.map((request) => squeezed(request.prompt)).filter((prompt, index, all) => prompt !== all[index - 1]);
  }

  async function idleAfter(text: string): Promise<void> {
    const isAnswered = (): boolean =>
      rig.asked().some((request) => squeezed(request.prompt) === squeezed(text) && request.outcome === "answered");
    await eventually("it was answered", isAnswered, 90_000);
    await eventually("it is idle again", () => isIdle(rig, id), 30_000);
  }

  test.each(texts)(
    "killed between paste and Enter, %s: delivered once, and the next is not fused with it",
    async (_what, text) => {
      const before = rig.asked().length;
      await rig.home.daemonPid();
      rig.home.failAt("send.pasted");
      const sent = await rig.home.run(["send", id, text, "--json", "--timeout", "60"]);
      expect(rig.home.isFailpointArmed()).toBe(false);
      expect(JSON.parse(sent.stdout)).toMatchObject({ state: "delivered" });
      await idleAfter(text);
      const next = "[[say the next]] beta";
      expect(await rig.home.json("send", id, next, "--timeout", "60")).toMatchObject({ state: "delivered" });
      await idleAfter(next);
      expect(promptsAfter(before)).toEqual([squeezed(text), squeezed(next)]);
    },
  );

  test("killed after Enter: known to be delivered, and not typed again", async () => {
    const before = rig.asked().length;
    const text = "[[say after Enter]] gamma";
    rig.home.failAt("send.after-effect");
    const sent = await rig.home.run(["send", id, text, "--json", "--timeout", "60"]);
    expect(rig.home.isFailpointArmed()).toBe(false);
    expect(JSON.parse(sent.stdout)).toMatchObject({ state: "delivered" });
    await idleAfter(text);
    expect(promptsAfter(before)).toEqual([squeezed(text)]);
  });

  test("a person's unsent text is waited for, and the wait is explained", async () => {
    const before = rig.asked().length;
    await press(rig, id, "-l", "half a thought");
    await eventually("it stands there", async () => (await screenOf(rig, id)).includes("half a thought"));
    const text = "[[say after the draft]]";
    expect(await rig.home.json("send", id, text, "--timeout", "4")).toMatchObject({
      state: "admitted",
      detail: expect.stringContaining("unsent text in its input") as string,
    });
    expect(JSON.stringify(await rig.home.json("explain", id))).toContain("unsent text in its input");
    expect(promptsAfter(before)).toEqual([]);
    await press(rig, id, "Enter");
    await idleAfter(text);
    expect(promptsAfter(before)).toEqual([squeezed("half a thought"), squeezed(text)]);
  });

  test("what was sent without Enter is continued by what is sent next", async () => {
    const before = rig.asked().length;
    expect(await rig.home.json("send", id, "[[say in two]] first,", "--no-enter")).toMatchObject({
      state: "delivered",
    });
    expect(await rig.home.json("send", id, " then", "--timeout", "60")).toMatchObject({ state: "delivered" });
    await idleAfter("[[say in two]] first, then");
    expect(promptsAfter(before)).toEqual([squeezed("[[say in two]] first, then")]);
    const outcomes = (await happened(rig, id, "message-")).filter((type) => type === "message-unknown");
    expect(outcomes).toEqual([]);
    await endNow(rig, id);
  });
});

describe(CASES.codexAppServer.title, { timeout: 120_000 }, () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await createRig(CASES.codexAppServer);
  });
  afterAll(() => disposeWhole(rig), 60_000);

  test("a message goes past a person's unsent text, a command of its own waits for it", async () => {
    const { session_id: id } = await rig.start("[[say ready]]");
    await rig.wait(id, "--since", "0", "--for", "turn-completed");
    await press(rig, id, "-l", "half a thought");
    await eventually("it stands there", async () => (await screenOf(rig, id)).includes("half a thought"));
    const text = "[[say over the protocol]]";
    expect(await rig.home.json("send", id, text, "--timeout", "30")).toMatchObject({ state: "delivered" });
    await eventually("it is idle again", () => isIdle(rig, id), 30_000);
    expect(rig.asked().at(-1)?.prompt).toBe(text);
    expect(await screenOf(rig, id)).toContain("half a thought");
    expect(await rig.home.json("send", id, "/status", "--timeout", "4")).toMatchObject({ state: "admitted" });
    await press(rig, id, "C-u");
    await eventually("it was typed", async () => (await happened(rig, id, "message-delivered")).length === 2, 30_000);
    await endNow(rig, id);
  });

  test("killed after it was sent: known to be delivered, and not sent again", async () => {
    const { session_id: id } = await rig.start("[[say ready]]");
    await rig.wait(id, "--since", "0", "--for", "turn-completed");
    const text = "[[delay 2s]] [[say once]]";
    rig.home.failAt("send.after-effect");
    const sent = await rig.home.run(["send", id, text, "--json", "--timeout", "60"]);
    expect(rig.home.isFailpointArmed()).toBe(false);
    expect(JSON.parse(sent.stdout)).toMatchObject({ state: "delivered" });
    await eventually("it is idle again", () => isIdle(rig, id), 30_000);
    expect(rig.asked().filter((request) => request.prompt === text)).toHaveLength(1);
    await endNow(rig, id);
  });
});

/** Tabs become blanks, ends are trimmed, and Reeve itself puts a zero-width space or a blank where a shell would start. */
function squeezed(text: string): string {
  return text.replaceAll(/[\s\u200b]+/gu, " ").trim();
}
