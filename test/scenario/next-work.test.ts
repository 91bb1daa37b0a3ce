/** next_work through the CLI and as a session, with practice agents as workers. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { killIfThere } from "../support/kill.ts";
import { gitIn, makeRepository } from "../support/repository.ts";
import { clientOf, startSleeper } from "../support/session-caller.ts";
import { createTestHome, type TestHome } from "../support/test-home.ts";
import { type Advice, createWorkDriver } from "../support/work-driver.ts";

let home: TestHome;
let shop: string;
beforeAll(() => {
  home = createTestHome();
  shop = makeRepository(home.dir);
});
afterAll(() => home.dispose());

async function add(...words: readonly string[]): Promise<string> {
  return (await home.json<{ work_id: string }>("work", "add", ...words)).work_id;
}

const next = (...words: readonly string[]): Promise<Advice> => home.json<Advice>("work", "next", ...words);

test("an item on a branch goes from nothing to done; what is not committed is asked for once", async () => {
  expect(await next()).toMatchObject({ action: "none", code: "nothing-ready", work_id: null });
  const work = await add("Describe the shop", "In a few words.", "--branch", "main", "--cwd", shop);
  expect(await next()).toMatchObject({ action: "prepare", work_id: work, report: ["edit"] });
  await home.json("work", "edit", work, "--agent", "practice");
  const after = await add("Sell it", "--agent", "practice", "--depends-on", work);
  expect(await next(after)).toMatchObject({ action: "none", code: "dependencies-unsatisfied" });

  const driver = createWorkDriver(home, work, {
    async start({ dispatch }) {
      expect(dispatch).toMatchObject({ agent: "practice", cwd: shop, branch: "main", to_session_id: null });
      await home.json("start", "--work", work, "--name", "writer");
    },
    review: async ({ commit }) => ["approve", work, "--commit", commit ?? ""],
  });
  await driver.carryOut(await driver.driveTo("dispatch"));
  writeFileSync(join(shop, "new.md"), "not committed\n");
  const told = await driver.driveTo("send-details");
  expect(told).toMatchObject({ code: "uncommitted-changes", message: expect.stringContaining("1 file") as string });
  await driver.carryOut(told);
  gitIn(shop, "add", ".");
  gitIn(shop, "commit", "--quiet", "--message", "new");
  const review = await driver.driveTo("review");
  expect(review).toMatchObject({ commit: gitIn(shop, "rev-parse", "HEAD"), report: ["approve", "request-changes"] });
  await driver.carryOut(await driver.driveTo("done"));
  expect(await home.json("work", "show", work)).toMatchObject({ state: "done" });
  expect(await home.session("writer")).toMatchObject({ state: "stopped" });
  expect(driver.actions.filter((action) => action !== "wait")).toEqual([
    "dispatch",
    "send-details uncommitted-changes",
    "read",
    "review",
    "finalise",
    "end-session",
    "done",
  ]);
  expect(await next()).toMatchObject({ action: "dispatch", work_id: after });
  await home.json("work", "cancel", after);
});

test("what a worker asks is passed on; one that dies gives its item back; nothing is told twice", async () => {
  const work = await add("Test it", "--agent", "practice", "--cwd", home.dir, "--retries", "0");
  const { session_id: worker } = await home.json<{ session_id: string }>(
    "start",
    "practice",
    "ask make test",
    "--work",
    work,
  );
  await home.run(["wait", worker, "--for", "awaiting-approval", "--timeout", "30"]);
  const asked = await next(work);
  expect(asked).toMatchObject({ action: "send-details", session_id: worker, message: null });
  expect(asked.approval?.title).toContain("make test");
  const text = (await home.run(["work", "next", work])).stdout;
  expect(text).toContain(`send-details: Session practice`);
  expect(text).toContain(`approval  ${asked.approval?.approval_id}`);
  for (const { pid } of home.marked(worker)) killIfThere(pid);
  const failed = await eventually("it is given back", async () => {
    const advice = await next(work);
    return advice.action === "escalate" && advice.text.includes("failed") ? advice : null;
  });
  expect(failed).toMatchObject({ code: null, report: ["retry", "done", "cancel"], wait: null });
  await home.json("end", worker);
});

test("a session is told about what nobody has and what it gave out itself, not about what others do", async () => {
  const [own, others] = [await add("Own", "--agent", "practice"), await add("Others", "--agent", "practice")];
  await home.json("start", "--work", others, "--name", "stranger");
  const lead = await startSleeper(home, "lead");
  const client = await clientOf(home, lead);
  expect(await client.nextWork({})).toMatchObject({ action: "dispatch", work_id: own });
  await expect(client.nextWork({ work: others })).rejects.toMatchObject({ code: "not-allowed" });
  await client.startSession({ agent: "practice", work: own, name: "helper", cwd: home.dir });
  const advice = await eventually("its worker has finished", async () => {
    const said = await client.nextWork({});
    return said.action === "wait" ? null : said;
  });
  expect(advice).toMatchObject({ action: "read", work_id: own });
  await home.json("end", "helper", "stranger", "lead", "--when", "now");
  for (const work of [own, others]) await home.json("work", "cancel", work);
});

test("wrong input is refused in words", async () => {
  expect((await home.run(["work", "next", "work-nothing"])).stderr).toContain("There is no work item");
  expect((await home.run(["work", "next", "work-nothing", "--agent", "x"])).stderr).toContain("no option --agent");
});
