/** A real daemon with practice workers, over the CLI, over HTTP and as sessions. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { idle } from "../support/orchestrator.ts";
import { clientOf, operatorOf, startSleeper } from "../support/session-caller.ts";
import type { SessionRow, TestHome } from "../support/test-home.ts";
import { createTestHome } from "../support/test-home.ts";

interface Work {
  readonly work_id: string;
  readonly state: string;
  readonly title: string;
  readonly waits_for: readonly string[];
  readonly [field: string]: unknown;
}

let home: TestHome;
beforeAll(() => {
  home = createTestHome();
  mkdirSync(join(home.dir, "project"));
});
afterAll(() => home.dispose());

const add = (title: string, ...options: readonly string[]): Promise<Work> =>
  home.json<Work>("work", "add", title, "--cwd", join(home.dir, "project"), ...options);
const show = (id: string): Promise<Work> => home.json<Work>("work", "show", id);

async function becomes(id: string, state: string): Promise<Work> {
  return await eventually(`${id} is ${state}`, async () => {
    const work = await show(id);
    return work.state === state && work;
  });
}

function killAll({ session_id: id }: SessionRow): void {
  for (const { pid } of home.marked(id)) killIfThere(pid);
}

test("an item goes from a worker that dies to the next one, and is done", async () => {
  const parser = await add("Write the parser", "--agent", "practice", "--role", "building", "--priority", "high");
  const merge = await add("Merge it", "--depends-on", parser.work_id.slice(0, 8), "--agent", "practice");
  expect(merge.waits_for).toEqual([parser.work_id]);
  const early = await home.run(["start", "--work", merge.work_id]);
  expect(early).toMatchObject({
    status: 1,
    stderr: `${merge.work_id} waits for ${parser.work_id}, which must be done first; see reeve work show ${parser.work_id}.\n`,
  });

  const first = await home.json<SessionRow>("start", "--work", parser.work_id, "--name", "first");
  expect(first).toMatchObject({
    agent: "practice",
    role: "building",
    cwd: join(home.dir, "project"),
    work: { work_id: parser.work_id, title: "Write the parser" },
  });
  expect((await home.run(["list"])).stdout).toMatch(/first .* Write the parser/);
  // Idle it is also before it takes its prompt.
  await home.json("wait", "first", "--since", "0", "--for", "turn-completed");
  const { messages } = await home.json<{ messages: readonly { text: string }[] }>("data", "first");
  expect(messages[0]?.text).toContain(`This is work item ${parser.work_id} of Reeve.`);
  const twice = await home.run(["start", "--work", parser.work_id]);
  expect(twice).toMatchObject({
    status: 1,
    stderr: expect.stringContaining(`session ${first.session_id} works on it`) as string,
  });

  killAll(first);
  expect(await becomes(parser.work_id, "pending")).toMatchObject({
    failures: 1,
    worker: null,
    why: expect.stringContaining("first") as string,
  });
  const second = await home.json<SessionRow>("start", "practice", "--name", "second", "--role", "building");
  await idle(home, "second");
  const sent = await home.run(["send", "second", "Say hello", "--work", parser.work_id]);
  expect(sent).toMatchObject({ status: 0, stderr: "" });
  await idle(home, "second");
  const reported = await home.run(["work", "built", parser.work_id, "It reads lines", "--commit", "abcdef1"]);
  expect(reported).toMatchObject({ status: 0, stdout: `${parser.work_id} is built.\n` });
  const whole = await show(parser.work_id);
  expect(whole).toMatchObject({
    result: { text: "It reads lines", session_id: second.session_id, by: "operator" },
    commits: ["abcdef1"],
    sessions: [first.session_id, second.session_id],
  });

  await home.json("work", "request-changes", parser.work_id, "Name it better");
  await home.json("send", "second", "Name it better", "--work", parser.work_id);
  await idle(home, "second");
  await home.json("work", "built", parser.work_id, "Renamed");
  for (const verb of ["approve", "finalise", "done"]) await home.json("work", verb, parser.work_id);
  expect(await show(parser.work_id)).toMatchObject({ state: "done", rounds: 1, reviewed: { verdict: "approved" } });
  expect((await show(merge.work_id)).waits_for).toEqual([]);
  expect((await home.session("second"))["work"]).toBeNull();

  const found = await home.json<{ items: readonly Work[] }>("work", "list", "--state", "all", "--search", "RENAMED");
  expect(found.items.map(({ work_id: id }) => id)).toEqual([parser.work_id]);
  const told = (await home.run(["events"])).stdout;
  expect(told).toContain(`work item ${parser.work_id} (Write the parser) is pending: Session first`);
});

test("a worker that is restarted keeps its item; one that is ended gives it back; the last attempt fails it", async () => {
  const { work_id: id } = await add("Try hard", "--agent", "practice", "--retries", "0");
  const worker = await home.json<SessionRow>("start", "--work", id, "--name", "steady", "--restart", "on-failure");
  await idle(home, "steady");
  killAll(worker);
  await eventually("it was started again", async () => (await home.session("steady"))["restarts"] === 1);
  await idle(home, "steady");
  expect(await show(id)).toMatchObject({
    state: "in-progress",
    failures: 0,
    worker: { session_id: worker.session_id },
  });
  await home.json("end", "steady", "--when", "now", "--grace", "0");
  expect(await becomes(id, "failed")).toMatchObject({ why: "Session steady was ended." });
  const inbox = await eventually("the operator is told", async () => {
    const { items } = await home.json<{ items: readonly Record<string, unknown>[] }>("inbox", "list");
    return items.find(({ kind }) => kind === "work");
  });
  expect(inbox).toMatchObject({ title: "Work failed: Try hard", urgency: "failed", session_id: null });
  expect((await home.run(["work", "retry", id])).stdout).toBe(`${id} is pending.\n`);
  await eventually("the item of the inbox is closed", async () => {
    const { items } = await home.json<{ items: readonly Record<string, unknown>[] }>("inbox", "list");
    return !items.some(({ kind }) => kind === "work");
  });
  await home.json("work", "cancel", id);
});

test("a worker that dies while no daemon runs loses its item at the next start", async () => {
  const { work_id: id } = await add("Unseen", "--agent", "practice");
  const worker = await home.json<SessionRow>("start", "--work", id, "--name", "unseen");
  await idle(home, "unseen");
  await home.killDaemon();
  killAll(worker);
  expect(await becomes(id, "pending")).toMatchObject({ failures: 1 });
  await home.json("work", "cancel", id, "not wanted");
});

test("a program without turns reports by its exit status", async () => {
  const { work_id: good } = await add("Run it", "--agent", "command");
  const { work_id: bad } = await add("Break it", "--agent", "command");
  await home.json("start", "--work", good, "--name", "good", "--", "true");
  await home.json("start", "--work", bad, "--name", "bad", "--", "false");
  expect(await becomes(good, "built")).toMatchObject({ result: { text: "Its program ended with status 0." } });
  expect(await becomes(bad, "pending")).toMatchObject({ failures: 1 });
  for (const id of [good, bad]) await home.json("work", "cancel", id);
});

describe("bad input is refused with what to do, and changes nothing", () => {
  let item: Work;
  beforeAll(async () => {
    item = await add("A thing to do", "--agent", "practice");
  });

  test("two items that would wait for one another, through a third", async () => {
    const second = await add("Second", "--depends-on", item.work_id);
    const third = await add("Third", "--depends-on", second.work_id);
    const { status, stderr } = await home.run(["work", "edit", item.work_id, "--depends-on", third.work_id]);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `${item.work_id} waits for ${third.work_id} waits for ${second.work_id} waits for ${item.work_id}: none of them could ever begin. Leave ${third.work_id} out of the dependencies of ${item.work_id}.\n`,
    });
    expect(await show(item.work_id)).toMatchObject({ dependencies: [], waits_for: [] });
    for (const { work_id: id } of [second, third]) await home.json("work", "cancel", id);
  });

  const cases: readonly (readonly [(id: string) => readonly string[], string])[] = [
    [() => ["work", "add", "x", "--agent", "clade"], 'There is no agent "clade"; did you mean claude?'],
    [() => ["work", "add", "x", "--depends-on", "work-nope"], "There is no work item work-nope"],
    [() => ["work", "add", "x", "--cwd", "/nowhere/at/all"], "The directory /nowhere/at/all does not exist"],
    [() => ["work", "add", "x", "--priority", "urgent"], "--priority takes a whole number from -1000 to 1000"],
    [() => ["work", "add", "x", "--priority", "5000"], "priority must be a whole number from -1000 to 1000"],
    [() => ["work", "add", "x".repeat(201)], "title must be"],
    [() => ["work", "add", " "], "title must be some text"],
    [() => ["work", "add", "x", "a\u0007b"], "the control character U+0007"],
    [() => ["work", "add"], "work add needs a title"],
    [(id) => ["work", "edit", id, "--depends-on", id], "cannot depend on itself"],
    [(id) => ["work", "edit", id], "There is nothing to change"],
    [(id) => ["work", "release", id], "is pending, so there is no worker to take it from"],
    [(id) => ["work", "fail", id], "Say why it failed"],
    [(id) => ["work", "done", id, "--commit", "xyz"], "commits[0] must be a commit"],
    [(id) => ["work", "show", id, "--state", "open"], "it belongs to work list"],
    [() => ["work", "show", "?"], "work must be the id of a work item"],
    [() => ["work", "list", "--page", "7"], "page must be the next_page"],
    [(id) => ["start", "command", "--work", id, "--", "true"], "asks for the agent practice"],
    [() => ["start"], "start needs an agent"],
  ];
  test("each with a sentence", async () => {
    const before = (await home.events()).length;
    const lines = cases.map(([line, sentence]) => [line(item.work_id), sentence] as const);
    const told = await Promise.all(lines.map(([line]) => home.run(line)));
    for (const [index, [line, sentence]] of lines.entries())
      expect([line, told[index]]).toEqual([
        line,
        { status: expect.any(Number) as number, stdout: "", stderr: expect.stringContaining(sentence) as string },
      ]);
    expect(told.filter(({ status }) => status === 0)).toEqual([]);
    expect((await home.events()).length).toBe(before);
  });

  test("a text that is too long", async () => {
    const input = "x".repeat(70_000);
    const { stderr } = await home.run(["work", "add", "x", "-"], { input });
    expect(stderr).toContain("The text has 70000 bytes, and at most 65536 are allowed");
  });

  test("a session that is busy, or works on another item", async () => {
    const other = await add("Another");
    await home.json("start", "practice", "--name", "busy");
    await idle(home, "busy");
    await home.json("send", "busy", "sleep 3600");
    await eventually("it works", async () => (await home.session("busy"))["turn_open"] === true);
    const busy = await home.run(["send", "busy", "hi", "--work", item.work_id]);
    expect(busy.stderr).toContain("Session busy cannot take an item now: a turn of it is under way");
    await home.json("send", "busy", "Say hello", "--interrupt");
    await idle(home, "busy");
    await home.json("send", "busy", "sleep 3600", "--work", item.work_id);
    const taken = await home.run(["send", "busy", "hi", "--work", other.work_id, "--json"]);
    expect(JSON.parse(taken.stdout)).toMatchObject({
      error: { code: "worker-busy", details: { work_id: item.work_id } },
    });
    expect((await show(other.work_id)).state).toBe("pending");
  });
});

describe("a session", () => {
  test("changes what it added and what its workers do, not what belongs to others; each try is recorded", async () => {
    const boss = await startSleeper(home, "boss");
    const stranger = await startSleeper(home, "stranger");
    const [bossClient, strangerClient] = [await clientOf(home, boss), await clientOf(home, stranger)];
    const own = await bossClient.addWork({ title: "Of the boss" });
    expect(own).toMatchObject({ created_by: `session:${boss.session_id}`, cwd: null });
    await expect(strangerClient.changeWork({ work: own.work_id, change: "cancel" })).rejects.toMatchObject({
      code: "not-allowed",
    });
    expect((await strangerClient.listWork({})).items.map(({ work_id: id }) => id)).toContain(own.work_id);

    const given = await add("Of the operator", "--agent", "command");
    const worker = await bossClient.startSession({
      work: given.work_id,
      args: ["sleep", "600"],
      environment: home.environment,
    });
    const workerClient = await clientOf(home, worker);
    for (const [client, change] of [
      [strangerClient, "built"],
      [workerClient, "approve"],
      [workerClient, "cancel"],
    ] as const)
      await expect(client.changeWork({ work: given.work_id, change })).rejects.toMatchObject({ code: "not-allowed" });
    await expect(workerClient.editWork({ work: given.work_id, review: "none" })).rejects.toMatchObject({
      code: "not-allowed",
    });
    expect(await workerClient.changeWork({ work: given.work_id, change: "built", text: "Done" })).toMatchObject({
      state: "built",
      sessions: [worker.session_id],
    });
    expect(await bossClient.changeWork({ work: given.work_id, change: "approve" })).toMatchObject({
      state: "approved",
    });
    const refused = (await home.events()).filter(
      ({ type, data }) => type === "call-refused" && data["code"] === "not-allowed",
    );
    expect(refused.map(({ data }) => data["operation"])).toEqual([
      ...Array<string>(4).fill("change_work"),
      "edit_work",
    ]);
  });

  test("leaves no secret of its environment in an item", async () => {
    const secret = "tok3n-5up3r-s3cr3t-v4lu3-0123456789";
    const session = await startSleeper(home, "careless", "--env", `API_TOKEN=${secret}`);
    const client = await clientOf(home, session);
    const { work_id: work } = await client.addWork({ title: `Use ${secret}`, body: `It is ${secret}.` });
    await client.changeWork({ work, change: "fail", text: `${secret} was wrong` });
    expect(await operatorOf(home).getWork({ work })).toMatchObject({
      title: "Use [redacted]",
      body: "It is [redacted].",
      why: "[redacted] was wrong",
    });
  });
});

test("over HTTP: pages of the queue in order, and one item however often it is asked for with one key", async () => {
  const client = operatorOf(home, { idempotencyKey: "the-same" });
  const [one, two] = [await client.addWork({ title: "Once" }), await client.addWork({ title: "Once" })];
  expect(two.work_id).toBe(one.work_id);
  interface Page {
    readonly items: readonly Work[];
    readonly next_page: string | null;
  }
  const pages: Work[] = [];
  for (let page: string | null = ""; page !== null;) {
    const answer: Page = await client.listWork({ state: "all", limit: 3, ...(page === "" ? {} : { page }) });
    expect(answer.items.length).toBeLessThanOrEqual(3);
    pages.push(...answer.items);
    page = answer.next_page;
  }
  const all = await client.listWork({ state: "all", limit: 200 });
  expect(pages.map(({ work_id: id }) => id)).toEqual(all.items.map(({ work_id: id }) => id));
  expect(new Set(pages.map(({ work_id: id }) => id)).size).toBe(pages.length);
});
