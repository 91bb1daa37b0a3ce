import { describe, expect, test } from "vitest";
import type { ApprovalRequest, Concerns } from "../../session/approval.ts";
import { compileRules } from "./approval-rules.ts";
import { type Question, rulingOn } from "../../fleet/approval-rule.ts";
import { parseRuleTables } from "../../fleet/rule-table.ts";

const rulesOf = (...tables: object[]) => compileRules(parseRuleTables(tables, "/home/me"));

function question(
  approval: Partial<ApprovalRequest>,
  rest: Partial<Omit<Question, "approval" | "concerns">> & { readonly concerns?: Partial<Concerns> } = {},
): Question {
  const { concerns, ...about } = rest;
  return {
    agent: "claude",
    role: "builder",
    cwd: "/home/me/shop",
    choices: null,
    approval: { id: "q", kind: "command", title: "Run", subject: null, cwd: null, reason: null, ...approval },
    concerns: concerns === undefined ? null : { tool: null, paths: [], ...concerns },
    ...about,
  };
}

const command = (subject: string) => question({ subject, title: `Run: ${subject}` });
const edit = (...paths: string[]) => question({ kind: "edit", subject: "diff" }, { concerns: { paths } });

describe("approval rules", () => {
  test("the first rule that fits decides, and within it a denial wins", async () => {
    const rules = await rulesOf(
      { name: "no force", tools: ["command"], deny: ["--force"] },
      { name: "git", allow: ["git .*"], deny: ["push"] },
      { name: "rest", deny: true },
    );
    const decided = ["git status", "git push", "git push --force", "ls"].map((one) => rulingOn(rules, command(one)));
    expect(decided).toEqual([
      { rule: "git", decision: "approved" },
      { rule: "git", decision: "denied" },
      { rule: "no force", decision: "denied" },
      { rule: "rest", decision: "denied" },
    ]);
  });

  test.each(["npm test; rm -rf ~", "npm test\nrm -rf ~", "x npm test", "npm test ", "sh -c 'npm test'"])(
    "nothing is approved that only contains what is allowed: %j",
    async (subject) => {
      for (const allow of ["npm test", "^npm test$", "(?:^npm test$)"])
        expect(rulingOn(await rulesOf({ allow: [allow] }), command(subject))).toBe(null);
    },
  );

  test("a question that is not known in full is approved by nothing, and denied by what is known", async () => {
    const rules = await rulesOf({ allow: ["(?s).*"], deny: ["sudo"] });
    const long = "a".repeat(4_001);
    expect(rulingOn(rules, command(long))).toBe(null);
    expect(rulingOn(await rulesOf({ allow: true }), command(long))).toBe(null);
    expect(rulingOn(rules, command(`sudo ${long}`))).toMatchObject({ decision: "denied" });
    expect(rulingOn(rules, question({ subject: null }))).toBe(null);
    expect(rulingOn(await rulesOf({ allow: true }), question({ id: "seen-1", subject: "ls" }))).toBe(null);
  });

  test("a dialog of the agent itself stays with the person", async () => {
    const choices = { approved: "Yes, I trust this folder", denied: "No, exit" };
    expect(rulingOn(await rulesOf({ allow: true }), question({ subject: "x" }, { choices }))).toBe(null);
  });

  test("agents, roles and tools", async () => {
    const rules = await rulesOf({ agents: ["codex"], roles: ["builder"], tools: ["Bash"], allow: true });
    const asked = question({ subject: "ls" }, { agent: "codex", concerns: { tool: "Bash" } });
    expect(rulingOn(rules, asked)).toEqual({ rule: "rule 1", decision: "approved" });
    expect(rulingOn(rules, { ...asked, agent: "claude" })).toBe(null);
    expect(rulingOn(rules, { ...asked, role: "ops" })).toBe(null);
    expect(rulingOn(rules, { ...asked, concerns: { tool: "Write", paths: [] } })).toBe(null);
  });

  test("an edit is approved only if every file lies in the directories, and fits", async () => {
    const rules = await rulesOf({ tools: ["edit"], directories: ["~/shop"], allow: [String.raw`.*\.ts`] });
    expect(rulingOn(rules, edit("src/a.ts", "/home/me/shop/b.ts"))).toMatchObject({ decision: "approved" });
    expect(rulingOn(rules, edit("src/a.ts", "../secrets.ts"))).toBe(null);
    expect(rulingOn(rules, edit("/home/me/shop/../other/a.ts"))).toBe(null);
    expect(rulingOn(rules, edit("/home/me/shopping/a.ts"))).toBe(null);
    expect(rulingOn(rules, edit("src/a.ts", "run.sh"))).toBe(null);
    expect(rulingOn(rules, edit())).toBe(null);
  });

  test("a command is done where the agent says, else where the session was started", async () => {
    const rules = await rulesOf({ directories: ["/home/me/shop"], allow: true });
    expect(rulingOn(rules, command("ls"))).toMatchObject({ decision: "approved" });
    expect(rulingOn(rules, question({ subject: "ls", cwd: "/home/me/shop/..hidden" }))).not.toBe(null);
    expect(rulingOn(rules, question({ subject: "ls", cwd: "/home/me" }))).toBe(null);
  });
});

describe("bad approval rules: one sentence", () => {
  test.each([
    [{}, 'approval rule "rule 1" decides nothing: give it allow or deny'],
    [{ allow: "npm" }, 'allow of approval rule "rule 1" must be true or a list of patterns that are not empty'],
    [{ alow: true }, 'approval rule "rule 1" has no setting alow, only name, agents, roles'],
    [{ name: "x", allow: true, directories: ["shop"] }, "must begin with / or ~/"],
    [{ name: "a\nb", allow: true }, "in one line"],
    [{ allow: ["(a"] }, 'approval rule "rule 1": "(a" is not a pattern'],
    [{ deny: ["a)|(?:b"] }, "is not a pattern"],
    [{ allow: ["(?!x)y"] }, "there is no lookahead"],
  ])("%j", async (table, message) => {
    await expect((async () => rulesOf(table))()).rejects.toThrow(message);
  });

  test("two rules of one name", () => {
    const twice = [
      { name: "x", allow: true },
      { name: "x", deny: true },
    ];
    expect(() => parseRuleTables(twice, "/")).toThrow('two approval rules are called "x"');
    expect(() => parseRuleTables({ allow: true }, "/")).toThrow("double brackets");
  });
});
