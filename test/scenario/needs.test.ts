/** Who needs me, and what I have seen: the same for every surface, and after a crash of the daemon. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { openTerminal } from "../support/person-terminal.ts";
import type { TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;
beforeAll(async () => {
  home = createTestHome();
  await home.json("start", "practice", "--name", "reads", "--role", "reader", "read the plan");
  await home.json("start", "practice", "--name", "asks", "ask rm -r build");
  await home.json("start", "command", "--name", "fails", "--", "sh", "-c", "echo 'Error: no such plan'; exit 3");
  await home.json("start", "command", "--name", "ends", "--", "sh", "-c", "echo '12 tests passed'");
  await home.json("start", "command", "--name", "serves", "--", "sleep", "600");
  await home.json("wait", "reads");
  await home.json("wait", "asks", "--for", "awaiting-approval");
  const said = ['Run "rm -r build"?', "Error: no such plan (exit status 3)", "12 tests passed"];
  await eventually(
    "each has its item in the inbox",
    async () => (await home.json<{ inbox_open: number }>("list")).inbox_open === 4,
  );
  await eventually("each has its line", async () => {
    const headlines = new Map((await home.list()).map(({ name, headline }) => [name, headline]));
    const isSaid = ["asks", "fails", "ends"].every((name, index) => headlines.get(name) === said[index]);
    return isSaid && headlines.get("reads") !== "" && headlines.get("serves") === "";
  });
});
afterAll(() => home.dispose());

const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
  (await home.run(["list", ...args])).stdout.trimEnd().split("\n");
const need = async (name: string): Promise<unknown> => (await home.session(name))["need"];

test("the list begins with whoever needs me, says why in the exact words, and sums up", async () => {
  const { stdout, stderr } = await home.run(["list"]);
  const rows = stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((line) => line.replace(/^(\S+) .* (?:just now|ago) ?/, "$1:").replace(/ +/g, " "));
  expect(rows).toEqual([
    'asks: Run "rm -r build"?',
    "fails: Error: no such plan (exit status 3)",
    expect.stringMatching(/^(?:ends: 12 tests passed|reads: .+\.)$/),
    expect.stringMatching(/^(?:ends: 12 tests passed|reads: .+\.)$/),
    "serves:",
  ]);
  expect(stdout).not.toContain("Running as process");
  expect(stderr).toBe("1 needs you · 1 failed · 2 finished · 1 working · 4 in your inbox: reeve inbox\n");
});

test("filters, and names only", async () => {
  expect((await lines("-q", "--needs-me")).toSorted()).toEqual(["asks", "ends", "fails", "reads"]);
  expect(await lines("-q", "--role", "reader")).toEqual(["reads"]);
  expect((await lines("-q", "--agent", "command")).toSorted()).toEqual(["ends", "fails", "serves"]);
  expect(await lines("-q", "--state", "error")).toEqual(["fails"]);
  expect(await home.run(["list", "--role", "nobody"])).toEqual({
    status: 0,
    stdout: "",
    stderr: "No session fits; reeve list --all shows every one.\n",
  });
});

test("a program that reads an answer has not seen it for anybody; a person at a terminal has", async () => {
  expect((await home.run(["data", "reads"])).status).toBe(0);
  await home.json("data", "reads");
  expect(await need("reads")).toBe("finished");
  const terminal = await openTerminal(home, `'${REEVE}' data reads`);
  try {
    await eventually("it was read", async () => (await terminal.screen()).includes("left with 0"));
    expect(await need("reads")).toBe("idle");
  } finally {
    await terminal.close();
  }
  const seen = (await home.events()).filter(({ type }) => type === "session-seen");
  expect(seen).toHaveLength(1);
});

test("seen survives the daemon, is told once, and the next turn is news again", async () => {
  await home.killDaemon();
  expect(await need("reads")).toBe("idle");
  await home.run(["seen", "reads"]);
  expect((await home.events()).filter(({ type }) => type === "session-seen")).toHaveLength(1);
  await home.json("send", "reads", "and again", "--wait");
  expect(await home.session("reads")).toMatchObject({ need: "finished", unseen: true });
  expect(await home.run(["seen", "reads", "ends"])).toMatchObject({ status: 0, stderr: "" });
  expect(await need("ends")).toBe("stopped");
  expect(await need("fails")).toBe("failed");
});

test("attach without a name goes to the one that needs me, and can only look", async () => {
  const { session_id: asks } = await home.session("asks");
  expect(await home.json("attach", "--read-only")).toMatchObject({
    session_id: asks,
    argv: expect.arrayContaining(["attach-session", "-r"]),
  });
  const terminal = await openTerminal(home, `'${REEVE}' attach --read-only`);
  try {
    await eventually("its screen is shown", async () => (await terminal.screen()).includes("rm -r build"));
    // tmux by itself takes keys that come within a millisecond for a paste, and does nothing with them.
    await terminal.pressTogether("y", "Enter", "C-b", "d");
    await eventually("it was left", async () => (await terminal.screen()).includes("left with 0"));
    expect(await need("asks")).toBe("blocked");
  } finally {
    await terminal.close();
  }
});

test("list --watch shows what changes", async () => {
  const terminal = await openTerminal(home, `'${REEVE}' list --needs-me --watch`);
  try {
    await eventually("it is shown", async () => (await terminal.screen()).includes("1 needs you"));
    await home.json("approve", "asks", "--wait");
    await eventually("it is not asked any more", async () => /^1 failed · 1 finished$/m.test(await terminal.screen()));
    await terminal.press("C-c");
    await eventually("it was left", async () => (await terminal.screen()).includes("left with 130"));
  } finally {
    await terminal.close();
  }
  expect(await home.run(["list", "--watch"])).toMatchObject({ status: 2, stdout: "" });
});

test("what it died of holds no secret of its environment", async () => {
  const secret = "k3y-that-nobody-may-read";
  const script = 'echo "Error: refused with $API_TOKEN"; exit 4';
  await home.json("start", "command", "--name", "leaks", "--env", `API_TOKEN=${secret}`, "--", "sh", "-c", script);
  const headline = await eventually("it has died, and says of what", async () => {
    const line = (await home.session("leaks"))["headline"];
    return typeof line === "string" && line.startsWith("Error: refused") && line;
  });
  expect(headline).not.toContain(secret);
  expect(headline).toMatch(/\(exit status 4\)$/);
});
