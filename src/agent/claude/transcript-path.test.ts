import { expect, test } from "vitest";
import { configDirOf, projectNameOf, transcriptPathOf } from "./transcript-path.ts";

test.each([
  ["/home/user/project/app", "-home-user-project-app"],
  ["/tmp/reeve-claude-w/Wörk_a.b c/x", "-tmp-reeve-claude-w-W-rk-a-b-c-x"],
  [
    `/tmp/reeve-claude-w/${"a".repeat(120)}/${"b".repeat(120)}`,
    `-tmp-reeve-claude-w-${"a".repeat(120)}-${"b".repeat(59)}-fyky3f`,
  ],
])("%s, as 2.1.325 named it", (cwd, name) => {
  expect(projectNameOf(cwd)).toBe(name);
});

test("the configuration is in the home directory unless a variable says where", () => {
  expect(configDirOf({ HOME: "/home/user" })).toBe("/home/user/.claude");
  expect(configDirOf({ HOME: "/home/user", CLAUDE_CONFIG_DIR: "/etc/mine" })).toBe("/etc/mine");
  expect(configDirOf({})).toBe(null);
  expect(transcriptPathOf("/home/user/.claude", "/work", "id")).toBe("/home/user/.claude/projects/-work/id.jsonl");
});
