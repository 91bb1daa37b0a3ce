/** What git prints for programs, as data. Paths are as git gives them: relative to the top, and never trusted as text. */

export interface ListedWorktree {
  readonly path: string;
  readonly head: string | null;
  /** Null where it is detached or bare. */
  readonly branch: string | null;
  readonly isBare: boolean;
  /** Why somebody locked it; null where nobody did. */
  readonly locked: string | null;
  /** Why git would forget it; null where it is in order. */
  readonly prunable: string | null;
}

/** Of `git worktree list --porcelain -z`. The first is the main one. */
export function parseWorktrees(output: string): readonly ListedWorktree[] {
  return output
    .split("\0\0")
    .filter((part) => part !== "")
    .map((part) => {
      const fields = new Map(part.split("\0").map((line) => cut(line)));
      return {
        path: fields.get("worktree") ?? "",
        head: fields.get("HEAD") ?? null,
        branch: fields.get("branch")?.replace(/^refs\/heads\//, "") ?? null,
        isBare: fields.has("bare"),
        locked: fields.get("locked") ?? null,
        prunable: fields.get("prunable") ?? null,
      };
    });
}

function cut(line: string): [string, string] {
  const space = line.indexOf(" ");
  return space === -1 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
}

export interface WorkingState {
  readonly staged: readonly string[];
  readonly modified: readonly string[];
  readonly unmerged: readonly string[];
  /** Those that end in a slash are repositories of their own. */
  readonly untracked: readonly string[];
  /** Files, and directories (with a slash at the end) that are ignored as a whole. */
  readonly ignored: readonly string[];
}

/** Of `git status --porcelain=v2 -z`. */
export function parseStatus(output: string): WorkingState {
  const staged: string[] = [];
  const modified: string[] = [];
  const unmerged: string[] = [];
  const untracked: string[] = [];
  const ignored: string[] = [];
  const parts = output.split("\0");
  for (let at = 0; at < parts.length; at++) {
    const line = parts[at] ?? "";
    switch (line[0]) {
      case "1":
      case "2": {
        const path = afterWords(line, line[0] === "1" ? 8 : 9);
        if (line[2] !== ".") staged.push(path);
        if (line[3] !== ".") modified.push(path);
        // Where it was before follows.
        if (line[0] === "2") at++;
        break;
      }
      case "u":
        unmerged.push(afterWords(line, 10));
        break;
      case "?":
        untracked.push(line.slice(2));
        break;
      case "!":
        ignored.push(line.slice(2));
        break;
      default:
    }
  }
  return { staged, modified, unmerged, untracked, ignored };
}

function afterWords(line: string, count: number): string {
  let at = 0;
  for (let word = 0; word < count; word++) at = line.indexOf(" ", at) + 1;
  return line.slice(at);
}

/** What `-z` separates. */
export function pieces(output: string): readonly string[] {
  return output.split("\0").filter((piece) => piece !== "");
}

export function lines(output: string): readonly string[] {
  return output.split("\n").filter((line) => line !== "");
}
