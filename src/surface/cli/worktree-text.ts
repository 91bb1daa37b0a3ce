/** Worktrees in words: the one that a session was started in, those that there are, and what became of one. */
import type { OutputOf } from "../../client/operation-types.ts";
import type { Output } from "./output.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";
import { type Column, layOut } from "./table.ts";
import { rulerFor } from "./text-ruler.ts";

type Made = NonNullable<OutputOf<"startSession">["made_worktree"]>;
type Listed = OutputOf<"listWorktrees">["worktrees"][number];
type Removed = OutputOf<"removeWorktree">;

/** Lines below the one that says what was started. */
export function madeWorktreeLines(made: Made | null, now: number): readonly string[] {
  if (made === null) return [];
  const { path, branch, is_new: isNew, base, behind, changes } = made;
  const from = base === null ? "" : `, from ${oneLine(base.ref)} (${baseText(base, now)})`;
  const dirty = changes === 0 ? "" : `; ${files(changes)} in it not committed`;
  return [
    isNew
      ? `It works in ${oneLine(path)}, on branch ${oneLine(branch)}${from}.`
      : `It works in ${oneLine(path)} again, on branch ${oneLine(branch)}${dirty}.`,
    ...(behind === null || behind.commits === 0
      ? []
      : [
          `${oneLine(behind.ref)} has ${behind.commits} ${behind.commits === 1 ? "commit" : "commits"} that it does not have (last fetched: ${relativeTime(behind.fetched_at, now)}).`,
        ]),
    ...made.notes.map(oneLine),
  ];
}

function baseText({ commit, committed_at: at, source }: NonNullable<Made["base"]>, now: number): string {
  const how = source === "fetched" ? "fetched just now" : "as this repository knows it";
  return `${commit.slice(0, 10)} of ${relativeTime(at, now)}, ${how}`;
}

const COLUMNS: readonly Column[] = [
  { title: "SESSION" },
  { title: "BRANCH", least: 12 },
  { title: "AGE", dropped: 3 },
  { title: "CHANGES", dropped: 1 },
  { title: "UNPUSHED", dropped: 1 },
  { title: "PATH", least: 16, dropped: 2 },
  { title: "STATE", least: 32 },
];

export async function worktreeTable(
  worktrees: readonly Listed[],
  output: Pick<Output, "width">,
  now: number,
): Promise<string> {
  const rows = worktrees.map((one) =>
    [
      oneLine(one.session ?? one.session_id),
      oneLine(one.branch),
      relativeTime(one.created_at, now),
      `${one.changes ?? "?"}`,
      `${one.unpushed ?? "?"}`,
      oneLine(one.path),
      stateText(one),
    ].map((text) => ({ text })),
  );
  const ruler = await rulerFor(rows.flatMap((row) => row.map(({ text }) => text)));
  return layOut(COLUMNS, rows, output.width, ruler);
}

function stateText({ state, problem, kept_because: why }: Listed): string {
  if (problem !== null) return oneLine(`not readable: ${problem}`);
  if (state !== "ready") return state === "making" ? "being made" : "being removed";
  if (why.some(({ code }) => code === "in-use")) return "in use";
  return why.length === 0 ? "can be removed" : oneLine(`kept: ${why.map(({ text }) => text).join(" ")}`);
}

/** `reeve`: as it was called. */
export function removedText(removed: Removed, worktree: string): string {
  const { removed: isRemoved, path, kept_because: why, saved, branch, dropped } = removed;
  const lines = [
    isRemoved ? `Removed ${oneLine(path)}.` : `Kept ${oneLine(path)}.`,
    ...why.map(({ text }) => `  ${oneLine(text)}`),
    ...(saved === null ? [] : [`Its work is saved: git show ${oneLine(saved.ref)}`]),
    ...(branch === null ? [] : [oneLine(branch)]),
    ...(dropped.length === 0 ? [] : [`Deleted with it, as git ignores them: ${dropped.map(oneLine).join(", ")}.`]),
  ];
  if (!isRemoved && why.length > 0 && why.every(({ savable }) => savable))
    lines.push(`To save that under refs/reeve and remove it: reeve worktree remove ${oneLine(worktree)} --save`);
  return lines.join("\n");
}

function files(count: number): string {
  return `${count} ${count === 1 ? "file" : "files"}`;
}
