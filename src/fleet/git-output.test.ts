import { describe, expect, it } from "vitest";
import { parseStatus, parseWorktrees } from "./git-output.ts";

describe("what git prints", () => {
  it("lists worktrees: the main one, bare, detached, locked with and without a reason, gone", () => {
    const output = [
      "worktree /r\0HEAD 11\0branch refs/heads/main\0\0",
      "worktree /r with space\0HEAD 22\0detached\0locked\0\0",
      "worktree /x\0HEAD 33\0branch refs/heads/a/b\0locked on a stick\0prunable gitdir file points to non-existent location\0\0",
      "worktree /bare\0bare\0\0",
    ].join("");
    const none = { isBare: false, locked: null, prunable: null };
    expect(parseWorktrees(output)).toEqual([
      { ...none, path: "/r", head: "11", branch: "main" },
      { ...none, path: "/r with space", head: "22", branch: null, locked: "" },
      {
        ...none,
        path: "/x",
        head: "33",
        branch: "a/b",
        locked: "on a stick",
        prunable: "gitdir file points to non-existent location",
      },
      { ...none, path: "/bare", head: null, branch: null, isBare: true },
    ]);
  });

  it("tells staged from changed, conflicts, untracked and ignored, whatever is in a name", () => {
    const output = [
      "1 M. N... 100644 100644 100644 aa bb a b.txt",
      "1 .M N... 100644 100644 100644 aa aa line\nbreak",
      "1 MM N... 100644 100644 100644 aa bb both",
      "2 R. N... 100644 100644 100644 aa bb R100 new name",
      "old name",
      "u UU N... 100644 100644 100644 100644 aa bb cc conflict file",
      "? nested/",
      "! .env",
      "",
    ].join("\0");
    expect(parseStatus(output)).toEqual({
      staged: ["a b.txt", "both", "new name"],
      modified: ["line\nbreak", "both"],
      unmerged: ["conflict file"],
      untracked: ["nested/"],
      ignored: [".env"],
    });
  });
});
