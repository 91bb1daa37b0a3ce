/**
 * The real agents as workers, driven by nothing but the answers of next_work.
 * In its first turn a Codex worker is to be
 * waited for and not looked at, and Claude Code may be monitored; after it both
 * are read. The item of Codex goes on to done, with one round of changes.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gitIn } from "../support/repository.ts";
import { createWorkDriver } from "../support/work-driver.ts";
import type { Rig } from "./rig.ts";
import { CASES, createRig, disposeWhole } from "./rig.ts";

const cases = [
  { agentCase: CASES.codexAppServer, how: "notification", isWhole: true },
  { agentCase: CASES.claude, how: "monitor", isWhole: false },
] as const;

describe.each(cases)("$agentCase.title", { timeout: 120_000 }, ({ agentCase, how, isWhole }) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await createRig(agentCase);
    writeFileSync(join(rig.home.dir, ".gitconfig"), "[user]\n  name = Somebody\n  email = somebody@example.com\n");
    gitIn(rig.workDir, "init", "--quiet", "--initial-branch=parser");
    commit("first");
  });
  afterAll(() => disposeWhole(rig), 60_000);

  /** As its worker would. */
  function commit(name: string): string {
    writeFileSync(join(rig.workDir, "parser.txt"), name);
    gitIn(rig.workDir, "add", "parser.txt");
    gitIn(rig.workDir, "commit", "--quiet", "--message", name);
    return gitIn(rig.workDir, "rev-parse", "HEAD");
  }

  test("what next_work says of its item, from the beginning on", async () => {
    const body = "[[delay 2s]] [[say the first version]]";
    const words = ["work", "add", "Write the parser", body, "--agent", agentCase.agent, "--branch", "parser"];
    const added = await rig.home.json<{ work_id: string }>(...words, "--cwd", rig.workDir, "--review", "required");
    const work = added.work_id;
    let worker = "";
    const verdicts = [
      (head: string) => ["request-changes", work, "[[say the second version]]", "--commit", head],
      (head: string) => ["approve", work, "Good.", "--commit", head],
      (head: string) => ["approve", work, "Still good.", "--commit", head],
    ];
    const driver = createWorkDriver(rig.home, work, {
      async start() {
        ({ session_id: worker } = await rig.start(null, { options: ["--work", work] }));
      },
      async review(advice) {
        const head = gitIn(rig.workDir, "rev-parse", "HEAD");
        expect(advice.commit).toBe(head);
        return verdicts.shift()?.(head) ?? [];
      },
    });

    await driver.carryOut(await driver.driveTo("dispatch"));
    // The carve-out: in its first turn.
    const first = await driver.next();
    expect(first).toMatchObject({ action: "wait", session_id: worker, wait: { how, sessions: [worker] } });
    await driver.carryOut(first);
    const read = await driver.driveTo("read");
    expect(read).toMatchObject({ session_id: worker, report: ["built", "release"] });
    expect(JSON.stringify(await rig.data(worker))).toContain("the first version");
    if (!isWhole) return;
    commit("as it was asked");
    await driver.carryOut(read);

    const reviewed = await driver.driveTo("fix");
    expect(reviewed).toMatchObject({ session_id: worker });
    await driver.carryOut(reviewed);
    await driver.driveTo("read");
    expect(JSON.stringify(await rig.data(worker))).toContain("the second version");
    commit("as the review asked");

    // Somebody commits after the approval: it is reviewed again.
    await driver.driveTo("finalise");
    commit("afterwards");
    const again = await driver.next();
    expect(again).toMatchObject({ action: "review", repairs: [{ work_id: work, change: "reset-review" }] });
    await driver.carryOut(again);

    await driver.carryOut(await driver.driveTo("end-session"));
    expect(rig.home.marked(worker)).toEqual([]);
    await driver.carryOut(await driver.driveTo("done"));
    expect(await rig.home.json("work", "show", work)).toMatchObject({ state: "done", rounds: 1, sessions: [worker] });
    expect(driver.actions.filter((action) => action !== "wait")).toEqual([
      "dispatch",
      "read",
      "review",
      "fix",
      "read",
      "review",
      "finalise",
      "end-session",
      "done",
    ]);
  });
});
