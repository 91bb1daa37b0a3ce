import { expect, test } from "vitest";
import type { OutputOf } from "../../client/operation-types.ts";
import { addedSentence, changedSentence, workFooter, workTable, workText } from "./work-text.ts";

const NOW = Date.parse("2026-11-17T12:00:00.000Z");
const AT = "2026-11-17T11:58:00.000Z";
type WholeWork = OutputOf<"getWork">;

function work(given: Partial<WholeWork> = {}): WholeWork {
  return {
    note: "The item was added by the operator.",
    work_id: "work-k3v9xw2apq",
    title: "Write the parser",
    state: "pending",
    priority: 0,
    agent: null,
    role: null,
    branch: null,
    cwd: "/project",
    review: "optional",
    verify: null,
    dependencies: [],
    waits_for: [],
    retry_limit: 2,
    failures: 0,
    rounds: 0,
    worker: null,
    why: null,
    sessions: [],
    commits: [],
    created_by: "operator",
    created_at: AT,
    changed_at: AT,
    body: "",
    result: null,
    verification: null,
    reviewed: null,
    created_by_name: null,
    ended_at: null,
    ...given,
  };
}

const plain = { width: null, hasColour: false };
const worker = { session_id: "b4n2xq7tfd", name: "claude-1", since: AT };

test("the queue as a table; columns in which nothing stands are left out", async () => {
  const items = [
    work({ state: "in-progress", priority: 10, agent: "claude", role: "builder", worker }),
    work({ work_id: "work-p8wz5t3nbf", title: "Merge\n\u001b[31mboth", dependencies: ["a"], waits_for: ["a"] }),
  ];
  expect(await workTable(items, plain, NOW)).toBe(
    [
      "WORK             STATE        PRIORITY  FOR              WORKER    CHANGED    TITLE",
      "work-k3v9xw2apq  in-progress  10        claude, builder  claude-1  2 min ago  Write the parser",
      "work-p8wz5t3nbf  waits for 1                                       2 min ago  Merge both",
      "",
    ].join("\n"),
  );
  expect(await workTable([work()], plain, NOW)).toBe(
    "WORK             STATE    CHANGED    TITLE\nwork-k3v9xw2apq  pending  2 min ago  Write the parser\n",
  );
  expect(workFooter({ items, open: 7, next_page: "open_0_1_work-a" })).toEqual([
    "2 shown, 7 open.",
    "There may be more: repeat the command with --page open_0_1_work-a",
  ]);
});

test("one item as a page: what is known of it, then the texts, each line with a bar", () => {
  const shown = workText(
    work({
      state: "changes-requested",
      branch: "parser",
      dependencies: ["work-a", "work-b"],
      waits_for: ["work-b"],
      verify: ["sh", "-c", "npm test"],
      failures: 1,
      rounds: 1,
      sessions: ["b4n2xq7tfd"],
      commits: ["4f2a9c1d2e3f4a5b6c7d"],
      body: "It reads\u001b[2J lines.\nAll of them.\n",
      result: { text: "Done", session_id: "b4n2xq7tfd", by: "session:b4n2xq7tfd", at: AT },
      verification: { exit_code: 1, text: "1 failed", at: AT },
      reviewed: { verdict: "changes-requested", text: "More tests", commit: null, by: "operator", at: AT },
    }),
    plain,
    NOW,
  );
  expect(shown).toBe(`Write the parser (work-k3v9xw2apq)
State     changes-requested
Priority  0
Branch    parser
Directory /project
After     work-a, work-b (not done)
Review    optional
Verify    npm test
Attempts  1 of 3 failed; sent back 1 time
Sessions  b4n2xq7tfd
Commits   4f2a9c1d2e3f
Added     2 min ago, by the operator

The item was added by the operator.

What to do
| It reads lines.
| All of them.

Result (2 min ago, by session b4n2xq7tfd)
| Done

Verification: exit code 1 (2 min ago)
| 1 failed

Review: changes-requested (2 min ago, by the operator)
| More tests
`);
});

test("what became of it, in a sentence", () => {
  expect(changedSentence(work({ state: "built" }))).toBe("work-k3v9xw2apq is built.");
  expect(changedSentence(work({ state: "failed", why: "It cannot be done" }))).toBe(
    "work-k3v9xw2apq has failed: It cannot be done.",
  );
  expect(addedSentence(work({ waits_for: ["work-a"] }), "reeve")).toBe(
    "Added work-k3v9xw2apq: Write the parser. It waits for work-a. Give it to a session with: reeve start AGENT --work work-k3v9xw2apq",
  );
});
