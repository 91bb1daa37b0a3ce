import { expect, it } from "vitest";
import { branchName, branchSentences, branchText } from "./branch-text.ts";
import { sessionView } from "./session-fixture.ts";
import { sessionTable } from "./session-text.ts";

const none = sessionView().branch;
const git = { ahead: 2, behind: 0, dirty: 3, as_of: "2026-11-15T12:00:00Z" };
const since = "2026-11-15T11:57:00Z";
const commit = "0123456789".repeat(4);

it("shows what is checked out, what was declared instead, and what is not pushed or committed", () => {
  expect([
    branchText(sessionView()),
    branchText(sessionView({ branch: { ...none, actual: "main" }, git })),
    branchText(
      sessionView({ branch: { ...none, actual: "main" }, git: { ...git, ahead: null, behind: null, dirty: 0 } }),
    ),
    branchName({ ...none, commit }),
    branchName({ ...none, declared: "main", actual: "fix", mismatch_since: since }),
    branchName({ ...none, declared: "main", under_way: "a rebase of main", mismatch_since: since }),
    branchName({ ...none, declared: "main", mismatch_since: since }),
  ]).toEqual(["", "main +2 *3", "main", "01234567", "fix (not main)", "rebase of main (not main)", "none (not main)"]);
});

it("has a column in the list only where somebody works in a checkout, and fits 80 columns", async () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  const off = sessionView({
    name: "off",
    need: "blocked",
    headline: "Its checkout is on branch fix, not on main.",
    branch: { ...none, declared: "main", actual: "fix", policy: "pause", mismatch_since: since },
  });
  const clean = sessionView({ branch: { ...none, actual: "main" }, git });
  const table = await sessionTable([clean, off], { width: 80, hasColour: false }, now);
  expect(table).toBe(
    [
      "NAME     BRANCH       STATE    ACTIVITY      SINCE      INFO",
      "off      fix (not m…  running  wrong branch  3 min ago  Its checkout is on bran…",
      "builder  main +2 *3   running  idle          3 min ago",
      "",
    ].join("\n"),
  );
  expect(await sessionTable([sessionView()], { width: 80, hasColour: false }, now)).not.toContain("BRANCH");
});

it("says it in sentences for who wants to know why", () => {
  const session = sessionView({ branch: { ...none, declared: "main", actual: "main", commit, policy: "pause" }, git });
  expect(branchSentences(session)).toEqual([
    `Checked out: main (${commit}).`,
    "Declared: main; if another is checked out: pause.",
    "2 ahead of its upstream, 0 behind; 3 files not committed.",
  ]);
  expect(branchSentences(sessionView())).toEqual([]);
});
