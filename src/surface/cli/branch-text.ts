/** The branch of a session in a few characters, and in sentences. */
import type { SessionView } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";

type Branched = Pick<SessionView, "branch" | "git">;

/** "main +2 -1 *3": two commits ahead, one behind, three files not committed. Empty where it works in no checkout. */
export function branchText({ branch, git }: Branched): string {
  const counts = git === null ? [] : [count("+", git.ahead), count("-", git.behind), count("*", git.dirty)];
  return [branchName(branch), ...counts].filter((part) => part !== "").join(" ");
}

/** What is checked out, and what should be if that is something else. */
export function branchName(branch: SessionView["branch"]): string {
  const name = nameOf(branch);
  if (branch.mismatch_since === null) return name ?? branch.declared ?? "";
  return `${name ?? "none"} (not ${branch.declared})`;
}

export function branchSentences({ branch, git }: Branched): readonly string[] {
  const name = nameOf(branch);
  const { declared, policy } = branch;
  const found = name === null ? [] : [`Checked out: ${name}${branch.commit === null ? "" : ` (${branch.commit})`}.`];
  const wanted = declared === null ? [] : [`Declared: ${declared}; if another is checked out: ${policy}.`];
  if (git === null) return [...found, ...wanted];
  const upstream =
    git.ahead === null || git.behind === null
      ? "The branch has no upstream"
      : `${git.ahead} ahead of its upstream, ${git.behind} behind`;
  return [...found, ...wanted, `${upstream}; ${git.dirty} ${git.dirty === 1 ? "file" : "files"} not committed.`];
}

/** A commit by its beginning, as git shows it. */
function nameOf({ actual, commit, under_way: underWay }: SessionView["branch"]): string | null {
  if (underWay !== null) return stripTerminal(underWay).replace(/^an? /, "");
  return actual === null ? (commit?.slice(0, 8) ?? null) : stripTerminal(actual);
}

function count(sign: string, number: number | null): string {
  return number === null || number === 0 ? "" : `${sign}${number}`;
}
