/**
 * Dialogs that a person opens in an agent's pane: the session is
 * not idle, whoever waits is told, a message does not operate them but waits,
 * and is delivered once they are closed. test/golden has every dialog; here is
 * one of each kind, with the real program.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { AgentCase, Rig } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";
import { endNow, happened, isIdle, press, screenOf } from "./session-steps.ts";

interface Dialog {
  readonly opens: readonly string[];
  /** On its screen while it is open. */
  readonly shows: string;
  readonly closes: readonly string[];
  readonly activity: "awaiting-input" | "unknown";
}

const asking = { closes: ["Escape"], activity: "awaiting-input" } as const;

const cases: readonly { readonly agentCase: AgentCase; readonly dialogs: readonly Dialog[] }[] = [
  {
    agentCase: CASES.codexHooks,
    dialogs: [
      { ...asking, opens: ["/model", "Enter"], shows: "Select Model" },
      { ...asking, opens: ["/permissions", "Enter"], shows: "Permissions" },
      // In front of the composer, which stays on the screen.
      { ...asking, opens: ["/delete", "Enter"], shows: "keep this session" },
      { opens: ["C-r"], shows: "reverse-i-search", closes: ["Escape"], activity: "unknown" },
    ],
  },
  {
    agentCase: CASES.codexAppServer,
    dialogs: [{ ...asking, opens: ["/model", "Enter"], shows: "Select Model" }],
  },
  {
    agentCase: CASES.claude,
    dialogs: [
      { ...asking, opens: ["/model", "Enter"], shows: "Enter to" },
      { opens: ["!"], shows: "! for shell mode", closes: ["BSpace"], activity: "unknown" },
    ],
  },
  {
    agentCase: CASES.gemini,
    dialogs: [
      { ...asking, opens: ["/theme", "Enter"], shows: "Select Theme" },
      { ...asking, opens: ["/settings", "Enter"], shows: "Apply To" },
      { opens: ["!"], shows: "shell mode enabled", closes: ["Escape"], activity: "unknown" },
    ],
  },
];

describe.each(cases)("$agentCase.title", { timeout: 120_000 }, ({ agentCase, dialogs }) => {
  let rig: Rig;
  let id = "";
  beforeAll(async () => {
    rig = await createRig(agentCase);
    ({ session_id: id } = await rig.start("[[say ready]]"));
    await rig.wait(id, "--since", "0", "--for", "turn-completed");
    await eventually("it is idle", () => isIdle(rig, id), 30_000);
  }, 120_000);
  afterAll(async () => {
    await endNow(rig, id);
    await disposeWhole(rig);
  }, 60_000);

  test.each(dialogs)("$opens: not idle, and a message waits until it is closed", async (dialog) => {
    const { opens, shows, closes, activity } = dialog;
    const before = rig.asked().length;
    const cursor = await rig.cursor(id);
    // One key after the other, as a person would: a quick run of them is taken for a paste.
    for (const keys of opens) {
      await press(rig, id, keys);
      await eventually("it is drawn", async () => isShown(await screenOf(rig, id), keys, shows));
    }
    await eventually("it is open", async () => (await screenOf(rig, id)).includes(shows));
    const row = await eventually("it is not idle", async () => {
      const found = await rig.home.session(id);
      return found["activity"] === activity && found;
    });
    expect(row["asks"]).toMatch(/\S/);
    if (activity === "awaiting-input")
      expect(await rig.wait(id, "--since", cursor)).toMatchObject({ done: true, reason: "awaiting-input" });

    const text = `[[say after ${opens.join(" ")}]]`;
    expect(await rig.home.json("send", id, text, "--timeout", "2")).toMatchObject({ state: "admitted" });
    expect(await screenOf(rig, id)).toContain(shows);
    expect(rig.asked().length).toBe(before);

    for (const keys of closes) await press(rig, id, keys);
    await eventually("it was answered", () => rig.asked().slice(before).some(isAnswered), 60_000);
    await eventually("it is idle again", () => isIdle(rig, id), 30_000);
    expect(
      rig
        .asked()
        .slice(before)
        .map(({ prompt }) => prompt),
    ).toEqual([text]);
    expect((await happened(rig, id, "message-")).slice(-2)).toEqual(["message-admitted", "message-delivered"]);
  });
});

function isAnswered({ outcome }: { readonly outcome?: string | undefined }): boolean {
  return outcome === "answered";
}

/** What was typed stands there, or what it brought about. */
function isShown(screen: string, keys: string, shows: string): boolean {
  return !keys.startsWith("/") || screen.includes(keys) || screen.includes(shows);
}
