/**
 * The transcript of a living session is deleted, cut or replaced.
 * How its turns end is told by the sources that remain, at once and as they
 * ended; the session lives and works on; what is lost is said; and messages
 * arrive, also after a restart of the daemon, which can no longer read what was.
 */
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Rig } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { atWork, endNow, happened, isIdle, press } from "./session-steps.ts";

const PATIENCE = { timeout: 180_000 };
const ONE_TURN = ["turn-started", "turn-completed"];

const HARMS = {
  deleted: (path: string) => rmSync(path),
  "deleted with its directory": (path: string) => rmSync(dirname(path), { recursive: true }),
  cut: (path: string) => truncateSync(path, 0),
  replaced: (path: string) => {
    const content = readFileSync(path);
    rmSync(path);
    writeFileSync(path, content);
  },
} as const;

describe.each([CASES.codexHooks, CASES.codexAppServer, CASES.claude, CASES.gemini])("$title", PATIENCE, (agentCase) => {
  const rig = rigOf(agentCase);

  test("deleted while it is idle, and the next turn is completed", async () => {
    const { id, path } = await ready(rig());
    HARMS.deleted(path);
    await turn(rig(), id, "[[say nobody writes this down]]");
    expect(await happened(rig(), id, "turn-")).toEqual([...ONE_TURN, ...ONE_TURN]);
    expect(await rig().home.session(id)).toMatchObject({ liveness: "running", activity: "idle" });
    if (!existsSync(path)) expect(await observability(rig(), id)).toMatchObject({ status: "lost", expected: false });
    await endNow(rig(), id);
  });
});

describe("codex with hooks", PATIENCE, () => {
  const rig = rigOf(CASES.codexHooks);

  test.each(Object.keys(HARMS) as (keyof typeof HARMS)[])("%s during a turn", async (harm) => {
    const { id, path } = await ready(rig());
    const prompt = `[[delay 2s]] [[say ${harm}]]`;
    const { cursor } = await rig().home.json<{ cursor: number }>("send", id, prompt, "--timeout", "30");
    await atWork(rig(), id, prompt);
    HARMS[harm](path);
    expect(await rig().wait(id, "--since", String(cursor))).toMatchObject({ reason: "turn-completed" });
    if (harm !== "cut") await lost(rig(), id);
    await turn(rig(), id, `[[say after it was ${harm}]]`);
    expect(await happened(rig(), id, "turn-")).toEqual([...ONE_TURN, ...ONE_TURN, ...ONE_TURN]);
    expect(await rig().home.session(id)).toMatchObject({ liveness: "running", activity: "idle" });
    await endNow(rig(), id);
  });
});

describe("codex with its app-server, and a daemon that comes later", PATIENCE, () => {
  const rig = rigOf(CASES.codexAppServer);

  test("idle: a message arrives, and its turn is followed", async () => {
    const { id, path } = await ready(rig());
    HARMS.deleted(path);
    await rig().home.killDaemon();
    await turn(rig(), id, "[[say it arrived]]");
    expect(rig().asked().at(-1)?.prompt).toBe("[[say it arrived]]");
    await lost(rig(), id);
    await endNow(rig(), id);
  });

  test("in a turn: its end is told, completed or interrupted as it was", async () => {
    for (const key of [null, "Escape"]) {
      const { id, path } = await ready(rig());
      const prompt = `[[delay ${key === null ? 3 : 30}s]] [[say unread ${String(key)}]]`;
      const { cursor } = await rig().home.json<{ cursor: number }>("send", id, prompt, "--timeout", "30");
      await atWork(rig(), id, prompt);
      HARMS.deleted(path);
      await rig().home.killDaemon();
      await eventually("the next daemon listens", () => isChannelOpen(rig(), id), 30_000);
      if (key !== null) await press(rig(), id, key);
      const reason = key === null ? "turn-completed" : "turn-interrupted";
      expect(await rig().wait(id, "--since", String(cursor))).toMatchObject({ reason });
      await turn(rig(), id, `[[say next ${String(key)}]]`);
      await endNow(rig(), id);
    }
  });

  test("a turn that ended while no daemon was there is completed", async () => {
    const { id, path } = await ready(rig());
    const prompt = "[[delay 2s]] [[say alone]]";
    const { cursor } = await rig().home.json<{ cursor: number }>("send", id, prompt, "--timeout", "30");
    await atWork(rig(), id, prompt);
    HARMS.deleted(path);
    await rig().home.killDaemon();
    await eventually("the model has answered", () => rig().asked().at(-1)?.outcome === "answered", 30_000);
    expect(await rig().wait(id, "--since", String(cursor))).toMatchObject({ reason: "turn-completed" });
    await turn(rig(), id, "[[say together]]");
    await endNow(rig(), id);
  });

  test("a question that stands is still asked once, and can be answered", async () => {
    const { id, path } = await ready(rig());
    const file = join(rig().workDir, "still-asked");
    const prompt = `[[shell touch ${file}]] [[say done with it]]`;
    const { cursor } = await rig().home.json<{ cursor: number }>("send", id, prompt, "--timeout", "30");
    expect(await rig().wait(id, "--since", String(cursor))).toMatchObject({ reason: "awaiting-approval" });
    HARMS.deleted(path);
    await rig().home.killDaemon();
    await lost(rig(), id);
    const asked = await rig().home.json<{ approvals: readonly unknown[] }>("approvals", id);
    expect(asked.approvals).toHaveLength(1);
    await rig().home.json("approve", id);
    expect(await rig().wait(id, "--since", String(cursor), "--for", "turn-completed")).toMatchObject({ done: true });
    expect(existsSync(file)).toBe(true);
    await endNow(rig(), id);
  });
});

/** After its first turn, idle. */
async function ready(rig: Rig): Promise<{ readonly id: string; readonly path: string }> {
  const { session_id: id } = await rig.start("[[say ready]]");
  await rig.wait(id, "--since", "0", "--for", "turn-completed");
  await eventually("it is idle", () => isIdle(rig, id), 60_000);
  const path = (await observability(rig, id)).transcript_path;
  if (path === null) throw new Error("it has no transcript");
  await eventually("its transcript is there", () => existsSync(path));
  return { id, path };
}

/** Delivered, and completed. */
async function turn(rig: Rig, id: string, prompt: string): Promise<void> {
  const sent = await rig.home.json<{ state: string; cursor: number }>("send", id, prompt, "--timeout", "60");
  expect(sent.state).toBe("delivered");
  expect(await rig.wait(id, "--since", String(sent.cursor))).toMatchObject({ reason: "turn-completed" });
}

async function observability(rig: Rig, id: string) {
  return (await rig.data(id)).session.observability;
}

async function lost(rig: Rig, id: string): Promise<void> {
  const isLost = async (): Promise<boolean> => (await observability(rig, id)).status === "lost";
  await eventually("what is lost is said", isLost, 30_000);
}

async function isChannelOpen(rig: Rig, id: string): Promise<boolean> {
  return (await rig.home.json<{ channel: string | null }>("explain", id)).channel?.startsWith("open") === true;
}
