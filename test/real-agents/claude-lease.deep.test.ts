/** Claude Code lets two processes resume one conversation; Reeve does not. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { readIfThere } from "../support/read-if-there.ts";
import { runProgram } from "../support/test-home.ts";
import type { Rig } from "./rig.ts";
import { CASES, createRig } from "./rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await createRig(CASES.claude);
});
afterAll(async () => {
  await rig.dispose();
}, 60_000);

const byHand = (...args: readonly string[]) =>
  runProgram("tmux", ["-S", join(rig.home.dir, "person.sock"), "-f", "/dev/null", ...args], rig.user.environment);

test("a conversation that a person has open elsewhere is not resumed; once it is closed, it is", async () => {
  const { session_id: id } = await rig.start("[[say hello]]");
  await rig.wait(id, "--since", "0", "--for", "turn-completed");
  const { messages = [], session } = await rig.data(id);
  expect(messages.at(-1)).toMatchObject({ role: "assistant" });
  const nativeId = session.observability.native_id ?? "";
  for (const { pid } of rig.home.marked(id)) killIfThere(pid);
  await rig.wait(id, "--for", "exited");

  const registry = join(rig.home.dir, "agent-home", ".claude", "sessions");
  const before = new Set(readdirSync(registry));
  await byHand("new-session", "-d", "-c", rig.workDir, "claude", "--resume", nativeId);
  await eventually(
    "the other one has it open, and is ready",
    () =>
      readdirSync(registry).some((name) => {
        const text = before.has(name) ? "" : (readIfThere(join(registry, name)) ?? "");
        return text.includes(nativeId) && text.includes('"status":"idle"');
      }),
    30_000,
  );

  expect(await rig.home.run(["restart", id])).toMatchObject({ status: 1, stdout: "" });
  expect(await rig.home.session(id)).toMatchObject({ state: "error", reason_code: "conversation-open" });
  expect(rig.home.marked(id)).toEqual([]);

  await byHand("kill-server");
  await eventually("the other one is gone", async () => {
    await rig.home.run(["restart", id]);
    return (await rig.home.session(id)).state === "running";
  });
  await eventually("it is ready again", async () => (await rig.home.session(id))["activity"] === "idle", 30_000);
  await rig.home.json("end", id, "--when", "now");
}, 120_000);
