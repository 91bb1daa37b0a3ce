/** `reeve work run` with real workers: what it gives out, in which order, what decides whether it is done, and how it ends. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { EventRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

const REEVE = join(import.meta.dirname, "..", "..", "bin", "reeve");

let home: TestHome;
let project: string;
const runs: ChildProcess[] = [];
beforeEach(() => {
  home = createTestHome();
  project = join(home.dir, "project");
  mkdirSync(project);
});
afterEach(async () => {
  for (const run of runs.splice(0)) run.kill("SIGKILL");
  await home.dispose();
}, 60_000);

interface Outcome {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function start(...args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Outcome> } {
  const child = spawn(REEVE, ["work", "run", ...args], {
    env: { ...home.environment, PRACTICE_PACE_MS: "10" },
    cwd: project,
  });
  runs.push(child);
  const said = { stdout: "", stderr: "" };
  child.stdout.on("data", (bytes: Buffer) => (said.stdout += bytes.toString("utf8")));
  child.stderr.on("data", (bytes: Buffer) => (said.stderr += bytes.toString("utf8")));
  const ended = new Promise<Outcome>((resolve) => child.once("close", (status) => resolve({ status, ...said })));
  return { child, ended };
}

async function add(title: string, ...args: readonly string[]): Promise<string> {
  const added = ["work", "add", title, "--agent", "practice", "--cwd", project, ...args];
  return (await home.json<{ work_id: string }>(...added)).work_id;
}

interface Item {
  readonly state: string;
  readonly rounds: number;
  readonly failures: number;
  readonly sessions: readonly string[];
  readonly result: { readonly text: string } | null;
  readonly verification: { readonly exit_code: number | null; readonly text: string } | null;
  readonly reviewed: { readonly verdict: string; readonly text: string } | null;
}
const show = (id: string) => home.json<Item>("work", "show", id);

/** Titles, in the order in which the items were given out. */
function begun(events: readonly EventRow[]): readonly unknown[] {
  return events.filter(({ data }) => data["change"] === "begin").map(({ data }) => data["title"]);
}

test("a chain with priorities is done in order, by workers that are used again and ended", async () => {
  const first = await add("first");
  await add("second", "--depends-on", first);
  await add("urgent", "--priority", "high");
  await add("later", "--priority", "low");
  const { status, stdout } = await start("--most-workers", "1", "--json").ended;
  expect(JSON.parse(stdout)).toMatchObject({ ended: "done", done: 4, failed: [], open: 0, held: [], workers: [] });
  expect(status).toBe(0);
  expect(begun(await home.events())).toEqual(["urgent", "first", "second", "later"]);
  expect(await show(first)).toMatchObject({
    state: "done",
    result: { text: expect.stringContaining("practice") },
    reviewed: { verdict: "approved", text: expect.stringContaining("reeve work run") },
  });
  expect((await home.list()).map(({ state }) => state)).toEqual(["stopped"]);
});

test("the verification decides: one that fails is fixed in the second round", async () => {
  const id = await add(
    "parser",
    "--verify",
    "echo seen >> rounds; test $(wc -l < rounds) -gt 1 || { echo broken; false; }",
  );
  const { status, stdout } = await start().ended;
  expect(status).toBe(0);
  expect(stdout).toContain("1 item done.");
  expect(await show(id)).toMatchObject({
    state: "done",
    rounds: 1,
    verification: { exit_code: 0 },
    reviewed: { text: "Its verification passed." },
  });
  const transcript = (await home.list())[0]?.["observability"] as { transcript_path: string };
  expect(readFileSync(transcript.transcript_path, "utf8")).toContain("ended with exit code 1:\\nbroken");
});

test("the manifest of the project names the verification of items that have none", async () => {
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", project, ...args], { env: home.environment });
  git("init", "--quiet", "--initial-branch", "main");
  git("-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "--allow-empty", "--message", "one");
  const manifest = (verify: string): string =>
    `[work]\nverify = ["sh", "-c", "${verify}"]\n[[sessions]]\nid = "a"\nagent = "practice"\nbranch = "main"\n`;
  writeFileSync(join(project, "reeve.toml"), manifest("echo ours; exit 0"));
  const id = await add("checked");
  const own = await add("has its own", "--verify", "echo its own");
  expect((await start().ended).status).toBe(0);
  expect(await show(id)).toMatchObject({ state: "done", verification: { exit_code: 0, text: "ours" } });
  expect(await show(own)).toMatchObject({ state: "done", verification: { exit_code: 0, text: "its own" } });
  // One that cannot be read may name one: nothing is accepted unseen.
  writeFileSync(join(project, "reeve.toml"), "[work");
  await add("waits");
  expect(await start("--json").ended).toMatchObject({
    status: 78,
    stdout: expect.stringContaining("manifest-invalid") as string,
  });
  expect(await start("--verify", "true").ended).toMatchObject({ status: 0 });
});

test("a verification that hangs is ended, and the item fails after three rounds", async () => {
  home.configure("[work]\nverify_timeout_seconds = 1\n");
  const id = await add("endless", "--verify", "echo begun; sleep 600.125");
  const { status, stdout } = await start().ended;
  expect(status).toBe(1);
  expect(stdout).toContain(`${id} failed: Changes were requested 3 times`);
  expect(await show(id)).toMatchObject({
    state: "failed",
    rounds: 3,
    verification: { exit_code: null, text: expect.stringContaining("did not end within 1 s and was ended") },
  });
});

test("the item of a worker that is killed goes to another", async () => {
  const id = await add("sleep 1000 lest it is killed");
  const { ended } = start("--json");
  await eventually("it works", async () => (await home.list())[0]?.["activity"] === "working");
  const [worker] = await home.list();
  for (const { pid } of home.marked(worker?.session_id)) process.kill(pid, "SIGKILL");
  await eventually("another has it", async () => (await show(id)).sessions.length === 2);
  const [second] = (await home.list()).filter(({ session_id: other }) => other !== worker?.session_id);
  expect(await show(id)).toMatchObject({ state: "in-progress", failures: 1 });
  await eventually("it works", async () => (await home.session(second?.session_id ?? ""))["activity"] === "working");
  await home.json("work", "built", id, "by hand");
  await home.json("end", second?.session_id ?? "", "--when", "now");
  expect(JSON.parse((await ended).stdout)).toMatchObject({ ended: "done", done: 1 });
});

test("two runs at once hold the limits, and give each item out once", async () => {
  home.configure("[work]\nmost_workers = 2\n[role.tester]\nmost_workers = 1\n");
  const ids = [];
  for (let number = 1; number <= 5; number += 1)
    ids.push(await add(`number ${number}`, "--role", number % 2 === 0 ? "tester" : "coder"));
  const outcomes = await Promise.all([start("--json").ended, start("--json").ended]);
  expect(outcomes.map(({ status }) => status)).toEqual([0, 0]);
  const events = await home.events();
  expect(begun(events)).toHaveLength(5);
  expect(new Set(begun(events))).toEqual(new Set(ids.map((_, index) => `number ${index + 1}`)));
  const roles = new Map((await home.list()).map(({ session_id: id, ["role"]: role }) => [id, role]));
  const atWork = new Map<unknown, unknown>();
  for (const { type, data } of events) {
    if (type !== "work-changed") continue;
    if (data["state"] === "in-progress") atWork.set(data["work_id"], roles.get(String(data["worker"])));
    else atWork.delete(data["work_id"]);
    expect(atWork.size).toBeLessThanOrEqual(2);
    expect([...atWork.values()].filter((role) => role === "tester").length).toBeLessThanOrEqual(1);
  }
});

test("what needs a person is left, told, and ends the run; by hand more than may is refused", async () => {
  home.configure("[work]\nmost_workers = 1\n");
  const reviewed = await add("needs a look", "--review", "required");
  const { status, stdout } = await start("--json").ended;
  expect(status).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    ended: "stuck",
    open: 1,
    held: [{ work_id: reviewed, action: "review" }],
  });
  expect(await show(reviewed)).toMatchObject({ state: "built" });
  expect((await home.list()).map(({ state }) => state)).toEqual(["running"]);
  await home.json("work", "approve", reviewed);
  expect((await start().ended).status).toBe(0);
  expect(await show(reviewed)).toMatchObject({ state: "done" });
  expect((await home.list()).map(({ state }) => state)).toEqual(["stopped"]);

  const [one, other] = [await add("sleep 1000"), await add("sleep 2000")];
  await home.json("start", "--work", one, "--name", "one");
  const refused = await home.run(["start", "--work", other, "--json"], { cwd: project });
  expect(JSON.parse(refused.stdout || refused.stderr)).toMatchObject({ error: { code: "too-many-workers" } });
});

test("Ctrl-C stops giving out, ends the verification, and leaves the workers", async () => {
  const id = await add("parser", "--verify", "echo x > began; exec sleep 600.375");
  await add("more", "--depends-on", id);
  const { child, ended } = start();
  await eventually("it is verified", () => existsSync(join(project, "began")));
  child.kill("SIGINT");
  const { status, stdout } = await ended;
  expect(status).toBe(130);
  expect(stdout).toContain("No more is given out. These workers go on: practice-1.");
  expect(await show(id)).toMatchObject({ state: "built", verification: null });
  expect((await home.list()).map(({ state }) => state)).toEqual(["running"]);
});

test("the environment reaches worker and verification, and is not recorded", async () => {
  const id = await add("secretive", "--verify", 'test "$TOKEN_OF_TEST" = hunter2-hunter2 && test -z "$REEVE_HOME"');
  const child = spawn(REEVE, ["work", "run", "--json"], {
    env: { ...home.environment, TOKEN_OF_TEST: "hunter2-hunter2" },
    cwd: project,
  });
  runs.push(child);
  await new Promise((resolve) => child.once("close", resolve));
  expect(await show(id)).toMatchObject({ state: "done", verification: { exit_code: 0 } });
  expect(readFileSync(join(home.dir, "reeve.db")).includes("hunter2")).toBe(false);
});
