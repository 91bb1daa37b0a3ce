/**
 * A daemon that comes back asks Codex's app-server how the last
 * turn ended. A server that was stopped at the end of a turn has once called
 * that turn interrupted, milliseconds before it told of its completion; the
 * order of messages is in src/supervisor/channel-keeper.test.ts, the real
 * program is stopped here, at several moments around the end.
 */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { CASES } from "./rig.ts";
import { rigOf } from "./rig-of.ts";
import { endNow, happened } from "./session-steps.ts";

const rig = rigOf(CASES.codexAppServer);

const PATIENCE = { timeout: 120_000 };

test("stopped at the end of a turn while the daemon is killed: completed", PATIENCE, async () => {
  const { session_id: id } = await rig().start("[[say ready]]");
  await rig().wait(id, "--since", "0", "--for", "turn-completed");
  for (const [round, offMs] of [-20, 0, 10, 25, 40, 80].entries()) {
    const prompt = `[[delay 1s]] [[say round ${round}]]`;
    const sent = await rig().home.json<{ cursor: number }>("send", id, prompt, "--timeout", "30");
    const request = await eventually("the model is asked", () =>
      rig()
        .asked()
        .find((asked) => asked.prompt === prompt),
    );
    await elapsed(request.at + 1_000 + offMs);
    const pids = rig()
      .home.marked(id)
      .map(({ pid }) => pid);
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    await rig().home.killDaemon();
    await rig().home.json("daemon", "start");
    for (const pid of pids) process.kill(pid, "SIGCONT");
    expect(await rig().wait(id, "--since", String(sent.cursor))).toMatchObject({ reason: "turn-completed" });
    await eventually("it is idle", async () => (await rig().home.session(id))["activity"] === "idle", 30_000);
  }
  expect([...new Set(await happened(rig(), id, "turn-"))]).toEqual(["turn-started", "turn-completed"]);
  await endNow(rig(), id);
});

/** At what time a fault strikes is the fault's own, not something that is awaited. */
async function elapsed(until: number): Promise<void> {
  await eventually("the time has come", () => Date.now() >= until);
}
