/**
 * Each fact wakes once. Somebody waits with the cursor that each
 * wake returned while a session asks, is answered, is interrupted and ends;
 * another before a session that asks at its start. The same in every mode.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { runProgram } from "../support/test-home.ts";
import type { Wake, Waiter } from "../support/wakes.ts";
import { keepWaiting } from "../support/wakes.ts";
import type { AgentCase, Rig, StartOptions } from "./rig.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { atWork, endNow, isIdle, press } from "./session-steps.ts";

describe.each<AgentCase>([CASES.claude, CASES.gemini, CASES.codexHooks, { ...CASES.codexAppServer, args: [] }])(
  "$title",
  { timeout: 180_000 },
  (agentCase) => {
    const rig = rigOf(agentCase);

    test("a question, its turn's end, an interruption and the exit wake once each", async () => {
      const file = join(rig().workDir, "asked-for");
      const { session_id: id } = await rig().start(`[[shell touch ${file}]] [[say done with it]]`);
      const waiter = keepWaiting(rig().home, id);
      await woken(waiter, "awaiting-approval");
      // The next daemon finds the question, and is told of it again.
      await rig().home.killDaemon();
      await stays(rig(), id, { activity: "awaiting-approval", approvals: 1 });
      await rig().home.json("approve", id);
      await woken(waiter, "turn-completed");
      const prompt = "[[delay 60s]] [[say too late]]";
      await rig().home.json("send", id, prompt, "--timeout", "60");
      await atWork(rig(), id, prompt);
      await press(rig(), id, "Escape");
      await woken(waiter, "turn-interrupted");
      await eventually("it is idle", () => isIdle(rig(), id), 30_000);
      await endNow(rig(), id);
      const wakes = await waiter.leave();
      expect(reasonsOf(wakes)).toEqual(["awaiting-approval", "turn-completed", "turn-interrupted", "exited"]);
      expect(wakes[0]?.asks).toContain(`touch ${file}`);
    });

    test("what it asks at its start wakes once, with the question", async () => {
      const { session_id: id } = await rig().start(null, await askingAtItsStart(rig(), agentCase));
      const waiter = keepWaiting(rig().home, id);
      // A trust dialog is an approval; nobody but a person can log in.
      const reason = agentCase.title === CASES.codexAppServer.title ? "awaiting-input" : "awaiting-approval";
      await woken(waiter, reason);
      await stays(rig(), id, { activity: reason, liveness: "running" });
      await endNow(rig(), id);
      const wakes = await waiter.leave();
      expect(reasonsOf(wakes)).toEqual([reason, "exited"]);
      expect(wakes[0]?.asks).toMatch(/trust|not logged in/i);
    });
  },
);

async function woken(waiter: Waiter, reason: string): Promise<void> {
  const isWoken = (): boolean => waiter.wakes.some((wake) => wake.reason === reason);
  await eventually(`the waiter is woken for ${reason}`, isWoken, 90_000);
}

const reasonsOf = (wakes: readonly Wake[]): readonly string[] => wakes.map(({ reason }) => reason);

/** A directory that is not trusted; Codex's app-server asks nothing there, but for a log-in. */
async function askingAtItsStart(rig: Rig, { title }: AgentCase): Promise<StartOptions> {
  if (title === CASES.codexAppServer.title)
    return { user: await rig.addUser("nobody", { trust: [rig.workDir], loggedIn: false }) };
  const cwd = join(rig.home.dir, "strange");
  mkdirSync(cwd);
  expect(await runProgram("git", ["init", "-q", cwd], rig.home.environment)).toMatchObject({ status: 0 });
  return { cwd };
}

/** Whatever else tells of the same has had its say: a soft reading counts after 2.5 s. */
const HAD_ITS_SAY_MS = 4_000;

async function stays(rig: Rig, id: string, row: object): Promise<void> {
  const until = performance.now() + HAD_ITS_SAY_MS;
  while (performance.now() < until) expect(await rig.home.session(id)).toMatchObject(row);
}
