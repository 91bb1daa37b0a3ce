/**
 * An end that waits for the turn can be taken back: Ctrl-C only stops waiting and says so, `end --cancel`
 * takes the wish back while it still waits, and is refused once the stop is under way.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { pressInPane } from "../support/pane.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;
let name = "";
let count = 0;
beforeAll(() => {
  home = createTestHome();
});
beforeEach(() => {
  name = `busy-${++count}`;
});
afterAll(() => home.dispose());

async function startBusy(prompt = "sleep 100"): Promise<string> {
  const { session_id } = await home.json<{ session_id: string }>("start", "practice", "--name", name, prompt);
  await eventually("it works", async () => (await askSession(home, name))?.["activity"] === "working");
  return session_id;
}

async function types(): Promise<readonly string[]> {
  const { events } = await home.json<{ events: EventRow[] }>("events", name);
  return events.map((event) => event.type);
}

const isBeingEnded = (): Promise<unknown> =>
  eventually("its end is recorded", async () => (await askSession(home, name))?.desired === "stopped");

test("Ctrl-C on end says that it goes on and how to take it back; end --cancel does", async () => {
  const id = await startBusy();
  const ending = spawn(REEVE, ["end", name], { env: home.environment, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  ending.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  await isBeingEnded();
  await eventually("it says what it waits for", () => said.includes("in the middle of a turn"));
  ending.kill("SIGINT");
  expect(await new Promise((resolve) => ending.once("close", resolve))).toBe(130);
  expect(said).toMatch(new RegExp(`The end of ${name} goes on.*reeve end ${name} --cancel`));
  expect(await askSession(home, name)).toMatchObject({ desired: "stopped", activity: "working" });

  const cancelled = await home.run(["end", name, "--cancel"]);
  expect(cancelled).toMatchObject({ status: 0, stdout: expect.stringContaining(`${name} is running`) as string });
  expect(await askSession(home, name)).toMatchObject({ desired: "running", state: "running", activity: "working" });
  expect(await types()).toContain("end-cancelled");

  // The turn ends, and the session lives on and takes messages.
  await pressInPane(home, id, "Escape");
  expect((await home.run(["send", name, "say hello", "--wait"])).status).toBe(0);
  expect(await types()).not.toContain("session-exited");
  // And it can be ended for good.
  expect(await home.json("end", name)).toMatchObject({ done: true, session: { state: "stopped" } });
});

test("who waits for the end is told that it was taken back, and does not ask for it again", async () => {
  await startBusy();
  const ending = home.run(["end", name, "--json"]);
  await isBeingEnded();
  await home.json("end", name, "--cancel");
  const { status, stdout } = await ending;
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "end-cancelled" } });
  expect(await askSession(home, name)).toMatchObject({ desired: "running" });
  expect((await types()).filter((type) => type === "end-requested")).toHaveLength(1);
});

test("it is refused with a sentence when there is nothing to take back, or it is too late", async () => {
  const refused = async (): Promise<string> => {
    const { status, stdout } = await home.run(["end", name, "--cancel", "--json"]);
    expect(status).toBe(1);
    return (JSON.parse(stdout) as { error: { code: string } }).error.code;
  };
  await startBusy();
  expect(await refused()).toBe("not-being-ended");
  await home.json("end", name, "--when", "now");
  expect(await refused()).toBe("already-ended");

  name = `${name}-stubborn`;
  const stubborn = ["sh", "-c", "trap '' TERM HUP; while :; do sleep 0.1; done"];
  await home.json("start", "command", "--name", name, "--", ...stubborn);
  await eventually("it runs", async () => (await askSession(home, name))?.state === "running");
  const ending = home.run(["end", name, "--grace", "30"]);
  await eventually("the stop is under way", async () => (await types()).includes("end-requested"));
  expect(await refused()).toBe("end-under-way");
  await home.run(["end", name, "--when", "now", "--grace", "0"]);
  expect((await ending).status).toBe(0);
  expect((await home.run(["end", "--cancel"])).status).toBe(2);
  expect((await home.run(["end", name, "--cancel", "--when", "now"])).status).toBe(2);
});

test("a paused session is paused again, and what waited for the turn is delivered after all", async () => {
  const id = await startBusy();
  await home.json("send", name, "say more", "--timeout", "0");
  await home.json("pause", name);
  const ending = home.run(["end", name]);
  await isBeingEnded();
  expect((await home.run(["send", name, "too late", "--json"])).status).toBe(1);
  await home.json("end", name, "--cancel");
  await ending;
  expect(await askSession(home, name)).toMatchObject({ desired: "paused", state: "paused", pause_mode: "detach" });
  await home.json("resume", name);
  await pressInPane(home, id, "Escape");
  expect(await home.json("wait", name, "--timeout", "60")).toMatchObject({ reason: "turn-completed" });
  expect((await types()).filter((type) => type.startsWith("message-"))).toEqual([
    "message-admitted",
    "message-delivered",
  ]);
});

test("resume names the way back; --cancel takes several, and all", async () => {
  const names = [`${name}-a`, `${name}-b`];
  for (name of names) await startBusy();
  const endings = names.map((one) => home.run(["end", one]));
  for (name of names) await isBeingEnded();
  expect(await home.run(["resume", name])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`reeve end ${name} --cancel`) as string,
  });
  const { results } = await home.json<{ results: { session: { desired: string } }[] }>("end", "--all", "--cancel");
  expect(results.map(({ session }) => session.desired)).toEqual(["running", "running"]);
  for (const ending of endings) expect((await ending).status).toBe(1);
});
