/** Verbs and options that people try. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome, runProgram } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
});
afterAll(() => home.dispose());

test("other programs' words work, or name the right one", async () => {
  await home.json("new", "command", "--name", "alias", "--", "sh", "-c", "echo hello there; exec sleep 600");
  await eventually("it has said it", async () => (await home.run(["logs", "alias"])).stdout.includes("hello there"));
  expect((await home.run(["ls", "-q"])).stdout).toBe("alias\n");
  expect((await home.run(["ps", "-q"])).stdout).toBe("alias\n");
  expect((await home.run(["status"])).stdout).toContain("alias");
  expect((await home.run(["status", "alias"])).stdout).toContain("alias");
  expect((await home.run(["version"])).stdout).toBe((await home.run(["--version"])).stdout);
  expect(await home.run(["rm", "alias"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("reeve end NAME"),
  });
  expect((await home.run(["kill", "alias"])).stdout).toContain("alias is stopped.");
  expect((await home.run(["help", "ls"])).stdout).toContain("Usage: reeve list");
  expect((await home.run(["help", "work", "add"])).stdout).toContain("Usage: reeve work add TITLE [TEXT]");
  expect(await home.json("help", "work", "run")).toMatchObject({
    commands: [{ name: "work run", usage: "reeve work run [options]" }],
  });
  for (const words of [
    ["exit-codes", "add"],
    ["wait", "add"],
    ["work", "ad"],
  ])
    expect(await home.run(["help", ...words])).toMatchObject({ status: 2, stdout: "" });
});

test("a prompt comes from stdin or a file, and the last answer stands alone", async () => {
  const { status, stdout } = await home.run(["start", "practice", "-", "--name", "piped", "--wait"], {
    input: "say one\n",
  });
  expect({ status, isAnswered: stdout !== "" }).toEqual({ status: 0, isAnswered: true });
  const last = await home.run(["data", "piped", "--last"]);
  expect(last).toMatchObject({ status: 0, stderr: "" });
  expect(stdout).toContain(last.stdout.trim());
  expect(last.stdout).not.toContain("say one\n");
  expect((await home.run(["data", "piped", "-n", "1"])).stdout.trimEnd().split("\n")).toHaveLength(1);
  writeFileSync(join(home.dir, "task.md"), "say two\n");
  await home.json("start", "practice", "--name", "filed", "--file", join(home.dir, "task.md"), "--wait");
  const { messages } = await home.json<{ messages: { role: string; text: string }[] }>("data", "filed");
  expect(messages.find(({ role }) => role === "user")?.text).toBe("say two");
  expect(await home.run(["start", "practice", "x", "--file", "task.md"])).toMatchObject({ status: 2 });
  await home.json("start", "practice", "--name", "mute");
  expect(await home.run(["data", "mute", "--last"])).toMatchObject({ status: 1, stdout: "" });
});

test("data -f goes on until the process ends", async () => {
  await home.json(
    "start",
    "command",
    "--name",
    "counts",
    "--",
    "sh",
    "-c",
    "for n in 1 2 3; do echo line $n; read go; done",
  );
  const following = spawn(REEVE, ["data", "counts", "-f"], { env: home.environment });
  let shown = "";
  following.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const ended = new Promise<number | null>((resolve) => following.once("close", resolve));
  await eventually("the first line", () => shown.includes("line 1"));
  await home.json("send", "counts", "a");
  await eventually("the second line", () => shown.includes("line 2"));
  await home.json("send", "counts", "b");
  await eventually("the third line", () => shown.includes("line 3"));
  await home.json("send", "counts", "c");
  expect(await ended).toBe(0);
  expect(shown.match(/line 1/g)).toHaveLength(1);
});

test("wait without names is for those at work, of a role or of all", async () => {
  expect(await home.run(["wait", "--role", "nobody"])).toMatchObject({
    status: 16,
    stdout: "No session of the role nobody is at work; see reeve list.\n",
  });
  // Long enough that both are still at work when the wait begins, also on a busy machine.
  await home.json("start", "practice", "--name", "w1", "--role", "work", "sleep 6");
  await home.json("start", "practice", "--name", "w2", "--role", "work", "sleep 6");
  // An agent is idle for a moment before it takes its prompt.
  for (const name of ["w1", "w2"])
    await eventually(`${name} works`, async () => (await home.session(name))["activity"] === "working");
  const waited = await home.json<{ woken: { name: string }[] }>("wait", "--role", "work", "--all");
  expect(waited.woken.map(({ name }) => name).toSorted()).toEqual(["w1", "w2"]);
  // The one that is done would end a wait at once; only the one at work is waited for.
  await home.json("send", "w1", "sleep 100");
  expect(await home.run(["wait", "--role", "work", "--timeout", "1"])).toMatchObject({ status: 75 });
});

test("what failed already makes a wait for all of its role fail; approvals are shown by role", async () => {
  await home.json("start", "practice", "--name", "q-bad", "--role", "q", "fail it");
  await eventually("it failed", async () => (await home.session("q-bad"))["need"] === "failed");
  await home.json("start", "practice", "--name", "q-good", "--role", "q", "ask to go on");
  await eventually("it asks", async () => (await home.session("q-good"))["activity"] === "awaiting-approval");
  const asked = await home.json<{ approvals: { session_name: string }[] }>("approvals", "--role", "q");
  expect(asked.approvals.map(({ session_name: name }) => name)).toEqual(["q-good"]);
  expect((await home.run(["approvals", "--role", "nobody"])).stderr).toBe(
    "No session of the role nobody asks anything.\n",
  );
  const waiting = home.run(["wait", "--role", "q", "--all", "--for", "turn-completed", "--timeout", "60"]);
  await home.json("approve", "q-good", "--wait");
  expect(await waiting).toMatchObject({ status: 10 });
  expect(await home.run(["wait", "--role", "q", "--all"])).toMatchObject({ status: 10 });
  await home.json("end", "q-bad", "q-good", "--when", "now");
});

test("a message that waits is shown, and can be cancelled", async () => {
  await home.json("start", "practice", "--name", "busy", "sleep 60");
  await eventually("it works", async () => (await home.session("busy"))["activity"] === "working");
  const { message_id: id } = await home.json<{ message_id: string }>("send", "busy", "later", "--timeout", "0");
  expect(await home.json("messages", "busy")).toMatchObject({ messages: [{ message_id: id, text: "later" }] });
  expect((await home.run(["messages", "busy"])).stdout).toMatch(/ {2}waits {2,}later\n/);
  expect((await home.run(["messages", "busy", "--cancel", id])).stdout).toBe("Cancelled: later\n");
  expect(await home.json("messages", "busy")).toEqual({ messages: [] });
  expect(await home.run(["messages", "busy", "--cancel", id])).toMatchObject({ status: 1 });
  const { events } = await home.json<{ events: { type: string; caller: string | null }[] }>("events", "busy");
  expect(events.findLast(({ type }) => type.startsWith("message-"))).toMatchObject({
    type: "message-refused",
    caller: "operator",
  });
});

test("rename: found by the new name, and only by that", async () => {
  await home.json("start", "command", "--name", "before", "--", "sleep", "600");
  expect((await home.run(["rename", "before", "after"])).stdout).toBe("before is now called after.\n");
  expect((await home.run(["rename", "after", "busy"])).status).toBe(1);
  await eventually("the status line of its terminal shows it", async () => {
    const windows = ["-S", home.tmuxSocket, "list-windows", "-a", "-F", "#{window_name}"];
    const { stdout } = await runProgram("tmux", windows, home.environment);
    return stdout.split("\n").includes("after") && !stdout.split("\n").includes("before");
  });
  await home.killDaemon();
  expect(await home.session("after")).toMatchObject({ state: "running" });
  expect((await home.run(["data", "before"])).status).toBe(1);
});

test("the daemon: restart, log, and where it listens", async () => {
  const before = await home.daemonPid();
  expect((await home.run(["daemon", "restart"])).stdout).toContain(`Its socket is ${home.socketPath}.`);
  expect(await home.json("daemon", "status")).toMatchObject({ socket_path: home.socketPath });
  expect(await home.daemonPid()).not.toBe(before);
  const { stdout } = await home.run(["daemon", "logs", "-n", "1"]);
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(stdout)).toHaveProperty("message");
});

test("a conversation from elsewhere is continued, once", async () => {
  const id = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
  await home.json("adopt", "practice", id, "--name", "adopted");
  expect(await home.session("adopted")).toMatchObject({ observability: { native_id: id } });
  await eventually("it resumes", async () => (await home.run(["data", "adopted"])).stdout.includes(id.slice(0, 8)));
  expect(await home.run(["start", "practice", "--resume", id])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("open in session adopted already"),
  });
  expect(await home.run(["start", "command", "--resume", id, "--", "true"])).toMatchObject({ status: 2 });
  await home.json("send", "adopted", "go on", "--wait");
  await home.json("restart", "adopted");
  expect(await home.session("adopted")).toMatchObject({ observability: { native_id: id } });
});
