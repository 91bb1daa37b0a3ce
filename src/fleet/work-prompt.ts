/** What a worker is told when it is given an item and nobody wrote a prompt: the item, and how to report. Pure. */
import type { WorkItem } from "./work.ts";

export function promptOf({ id, title, body, state, reviewed }: WorkItem): string {
  const isSentBack = state === "changes-requested" && reviewed !== null;
  return [
    title,
    body.trim(),
    isSentBack ? `This was done before, and a review asked for changes:\n${reviewed.text.trim()}` : "",
    closing(id),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function closing(id: string): string {
  return `This is work item ${id} of Reeve. When you have done it, say so in a sentence or two: with the tool change_work (change: built), or in the shell with reeve work built ${id} "what you did". If it cannot be done, use fail instead of built and say why.`;
}
