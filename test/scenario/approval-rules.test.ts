/** Approvals that rules of config.toml answer. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { askSession } from "../support/ask-daemon.ts";
import { eventually } from "../support/eventually.ts";
import { createTestHome, type EventRow, type TestHome } from "../support/test-home.ts";

const RULES = `
[[approval]]
name = "practice may list"
agents = ["practice"]
tools = ["command"]
allow = ['ls( -l)?']
deny = ['rm']
`;

let home: TestHome;
afterEach(() => home.dispose());

const reaches = (name: string, activity: string): Promise<unknown> =>
  eventually(`${name} is ${activity}`, async () => {
    const session = await askSession(home, name);
    return session?.["activity"] === activity && Number(session["turns"]) > 0 && session;
  });

async function approvalEvents(name: string): Promise<readonly EventRow[]> {
  const { events } = await home.json<{ events: EventRow[] }>("events", name);
  return events.filter(({ type }) => type.startsWith("approval-"));
}

test("what fits is answered at once and logged with its rule; the rest waits; a dry run tells both", async () => {
  home = createTestHome();
  home.configure(RULES);
  // One after the other: the log has their questions in this order.
  await home.json("start", "practice", "--name", "lister", "ask ls -l");
  await reaches("lister", "idle");
  await home.json("start", "practice", "--name", "remover", "ask rm -rf /");
  await reaches("remover", "idle");
  await home.json("start", "practice", "--name", "other", "ask ls; whoami");
  await reaches("other", "awaiting-approval");
  const of = (decision: string) => [
    { type: "approval-requested" },
    { type: "approval-answer-requested", caller: "system", data: { decision, rule: "practice may list" } },
    { type: "approval-settled", data: { decision, by: "system", rule: "practice may list" } },
  ];
  expect(await approvalEvents("lister")).toMatchObject(of("approved"));
  expect(await approvalEvents("remover")).toMatchObject(of("denied"));
  expect(await approvalEvents("other")).toMatchObject([{ type: "approval-requested" }]);
  expect((await home.run(["events", "lister"])).stdout).toContain('approved by the rule "practice may list"');
  // Nobody is woken for what a rule answers, and whoever waits waits on.
  expect(await home.json("wait", "lister", "--since", "0")).toMatchObject({ ok: true, reason: "turn-completed" });
  const { items } = await home.json<{ items: { session_name: string; kind: string }[] }>("inbox", "--all");
  expect(items.filter(({ kind }) => kind === "approval")).toMatchObject([{ session_name: "other" }]);

  expect(await home.json("rules")).toMatchObject({ rules: [{ name: "practice may list", deny: ["rm"], roles: null }] });
  expect((await home.run(["rules"])).stdout).toContain("  denies: rm\n");
  const stricter = join(home.dir, "stricter.toml");
  writeFileSync(stricter, "[[approval]]\nname = 'nothing'\ndeny = true\n");
  expect(await home.json("rules", "test", "--config", stricter)).toMatchObject({
    questions: [
      { session_name: "lister", decided: "approved", decided_by: "system", would: "denied", rule: "nothing" },
      { session_name: "remover", decided: "denied", would: "denied" },
      { session_name: "other", decided: null, would: "denied" },
    ],
    would_approve: 0,
    would_deny: 3,
    differs: 1,
  });
  expect((await home.run(["rules", "test"])).stdout).toContain("approve 1, deny 1 and leave 1 to you; 0 were");
  expect(await approvalEvents("other")).toHaveLength(1);
});

test("a rule that came after the question answers it, and a killed daemon forgets none", async () => {
  home = createTestHome();
  await home.json("start", "practice", "--name", "lister", "ask ls");
  await reaches("lister", "awaiting-approval");
  expect((await home.run(["rules"])).stderr).toContain("There are no approval rules");
  home.configure(RULES);
  await home.killDaemon();
  await home.json("daemon", "start");
  await reaches("lister", "idle");
  const settled = (await approvalEvents("lister")).filter(({ type }) => type === "approval-settled");
  expect(settled).toMatchObject([{ data: { decision: "approved", rule: "practice may list" } }]);
});

test("a bad pattern: one sentence, and nothing is answered by the other rules either", async () => {
  home = createTestHome();
  home.configure(`${RULES}\n[[approval]]\nname = "broken"\nallow = ['(ls']\n`);
  await home.json("daemon", "start");
  const status = await home.json<{ warnings: string[] }>("daemon", "status");
  expect(status.warnings[0]).toMatch(/config\.toml is not right: approval rule "broken": "\(ls" is not a pattern: .+/);
  const file = join(home.dir, "bad.toml");
  writeFileSync(file, "[[approval]]\nallow = ['(ls']\n");
  const { status: code, stderr } = await home.run(["rules", "test", "--config", file]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("These rules cannot be used: ")]);
});
