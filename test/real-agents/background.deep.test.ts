/**
 * Claude Code's subagents and background commands: working in the background
 * is working, what works is shown, and the turn's end is told when it is over.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { SessionRow } from "../support/test-home.ts";
import type { RecordedRequest } from "../scripted-model/record.ts";
import type { Rig } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";
import { endNow, happened } from "./session-steps.ts";

interface Explained {
  readonly session: SessionRow;
  readonly activity: { readonly because: string };
  readonly sources: readonly { readonly source: string; readonly detail: string }[];
}

const ONE_TURN = ["turn-started", "turn-completed"];

describe("claude", { timeout: 180_000 }, () => {
  let rig: Rig;
  beforeAll(async () => {
    // Longer than any command here but the one that never ends.
    rig = await createRig(CASES.claude, { config: "[sessions]\nbackground_seconds = 40\n" });
    mkdirSync(join(rig.home.dir, "tmp"));
  });
  afterAll(() => disposeWhole(rig), 60_000);

  const start = (prompt: string): Promise<SessionRow> =>
    rig.start(prompt, {
      args: ["--allowedTools", "Bash"],
      // What it keeps of background commands would stay in /tmp.
      environment: { TMPDIR: join(rig.home.dir, "tmp") },
    });

  async function worksInBackground(id: string): Promise<SessionRow> {
    return await eventually(
      "it has answered and works in the background",
      async () => {
        // One answer, so that both are of the same moment.
        const { session, sources } = await rig.home.json<Explained>("explain", id);
        const hasAnswered = sources.some(({ detail }) => detail.startsWith("Stop hook, in the background"));
        return hasAnswered && session;
      },
      60_000,
    );
  }

  /** What the subagent asked the model. */
  const below = (word: string): RecordedRequest | undefined =>
    rig.asked().find(({ prompt }) => prompt.includes(word) && !prompt.includes("[[agent"));

  test.each([
    [
      "a subagent",
      "[[agent [[delay 12s]] [[say below one]]]] [[say started]]",
      { kind: "subagent", title: "Scripted subagent" },
    ],
    ["a command", "[[background sleep 12]] [[say started]]", { kind: "command", title: "sleep 12" }],
  ])("%s in the background holds the turn: shown, waited for, and told once", async (_what, prompt, task) => {
    const { session_id: id } = await start(prompt);
    const held = await worksInBackground(id);
    expect(held).toMatchObject({
      activity: "working",
      turn_open: true,
      background: [{ ...task, holds_turn: true }],
    });
    const listed = await rig.home.run(["list"]);
    expect(listed.stdout).toContain(`In the background: ${task.kind === "subagent" ? "subagent: " : ""}${task.title}`);
    expect(await happened(rig, id, "turn-")).toEqual(["turn-started"]);
    const explained = await rig.home.json<Explained>("explain", id);
    expect(explained.activity.because).toContain(
      `It works in the background: ${task.kind === "subagent" ? "subagent: " : ""}${task.title}.`,
    );
    // Each source has its own last word.
    expect(explained.sources.map(({ source }) => source)).toEqual(expect.arrayContaining(["hook", "status"]));

    expect(await rig.wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({ reason: "turn-completed" });
    expect(await rig.home.session(id)).toMatchObject({ activity: "idle", turn_open: false, background: [] });
    if (task.kind === "subagent") expect(below("below one")?.outcome).toBe("answered");
    // It woke itself, and that is the same turn.
    expect(await happened(rig, id, "turn-")).toEqual(ONE_TURN);
    await endNow(rig, id);
  });

  test("an end after the turn waits for the subagent", async () => {
    const { session_id: id } = await start("[[agent [[delay 10s]] [[say below two]]]] [[say started]]");
    await worksInBackground(id);
    // It answers before that on a busy machine: what was asked for goes on.
    await rig.home.run(["end", id, "--when", "after-turn"]);
    await rig.wait(id, "--since", "0", "--for", "exited");
    await eventually("it is stopped", async () => (await rig.home.session(id)).state === "stopped", 60_000);
    expect(below("below two")?.outcome).toBe("answered");
    const types = await happened(rig, id, "");
    expect(types.filter((type) => type.startsWith("turn-"))).toEqual(ONE_TURN);
    expect(types.indexOf("turn-completed")).toBeLessThan(types.indexOf("session-exited"));
  });

  test("a message is taken meanwhile, as a turn of its own, and the subagent works on", async () => {
    const { session_id: id } = await start("[[agent [[delay 25s]] [[say below three]]]] [[say started]]");
    await worksInBackground(id);
    const sent = await rig.home.json<{ state: string; cursor: number }>(
      "send",
      id,
      "[[say in between]]",
      "--timeout",
      "20",
    );
    expect(sent.state).toBe("delivered");
    expect(below("below three")?.outcome).toBeUndefined();
    await eventually("the subagent has ended", () => below("below three")?.outcome === "answered", 60_000);
    await eventually("all is over", async () => (await rig.home.session(id))["activity"] === "idle", 30_000);
    expect(await happened(rig, id, "turn-")).toEqual([...ONE_TURN, ...ONE_TURN]);
    await endNow(rig, id);
  });
});

test(
  "claude: a command that never ends holds its turn for a while, and no later one",
  { timeout: 180_000 },
  async () => {
    const rig = await createRig(CASES.claude, { config: "[sessions]\nbackground_seconds = 4\n" });
    try {
      mkdirSync(join(rig.home.dir, "tmp"));
      const { session_id: id } = await rig.start("[[background sleep 1000]] [[say serving]]", {
        args: ["--allowedTools", "Bash"],
        environment: { TMPDIR: join(rig.home.dir, "tmp") },
      });
      expect(await rig.wait(id, "--since", "0", "--for", "turn-completed")).toMatchObject({ reason: "turn-completed" });
      const left = { activity: "idle", turn_open: false, background: [{ title: "sleep 1000", holds_turn: false }] };
      expect(await rig.home.session(id)).toMatchObject(left);
      expect((await rig.home.run(["list"])).stdout).toContain("Left running in the background: sleep 1000");
      const sent = await rig.home.json<{ cursor: number }>("send", id, "[[say and more]]", "--timeout", "30");
      expect(await rig.wait(id, "--since", String(sent.cursor), "--for", "turn-completed")).toMatchObject({
        done: true,
      });
      expect(await rig.home.session(id)).toMatchObject(left);
      expect((await rig.home.json<{ done: boolean }>("end", id)).done).toBe(true);
    } finally {
      await disposeWhole(rig);
    }
  },
);
