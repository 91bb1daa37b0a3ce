/** What a worker is told about an item that it has had before; the first time it is told more (work-prompt.ts). */
import type { WorkItem } from "./work.ts";

/** To the worker that built it. */
export function fixText({ id, title, reviewed }: WorkItem): string {
  return `A review of "${title}" asked for changes:

${reviewed?.text.trim() ?? ""}

This is still work item ${id} of Reeve. Report it as you did before: with change_work (change: built), or reeve work built ${id} "what you did".`;
}

export function commitText({ branch }: WorkItem, files: number): string {
  const where = branch === null ? "" : ` on branch ${branch}`;
  return `${uncommittedText(files, "your checkout")}. Commit what belongs to the task${where}, remove or ignore the rest, and say when that is done.`;
}

export function goOnText({ title }: WorkItem): string {
  return `Your last turn did not come to its end. Look at what is done of "${title}", and go on.`;
}

/** "2 files in your checkout are not committed" */
export function uncommittedText(files: number, where: string): string {
  return files === 1 ? `1 file in ${where} is not committed` : `${files} files in ${where} are not committed`;
}
