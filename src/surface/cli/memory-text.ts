/** Memories as people and agents read them in a terminal: each line that somebody wrote begins with a bar. Pure. */
import type { OutputOf } from "../../client/operation-types.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Output } from "./output.ts";
import { paint } from "./paint.ts";
import { relativeTime } from "./relative-time.ts";
import { oneLine } from "./session-text.ts";

export type ShownMemory = OutputOf<"listMemories">["memories"][number];

/** More of one is shown by its id. */
const LINES = 6;

export function memoriesText(
  memories: readonly ShownMemory[],
  output: Pick<Output, "hasColour">,
  { now, isWhole }: { readonly now: number; readonly isWhole: boolean },
): string {
  return memories.map((memory) => memoryText(memory, output, now, isWhole)).join("\n");
}

function memoryText(memory: ShownMemory, output: Pick<Output, "hasColour">, now: number, isWhole: boolean): string {
  const quiet = (text: string): string => (output.hasColour ? paint("quiet", text) : text);
  const strong = (text: string): string => (output.hasColour ? paint("strong", text) : text);
  const about = [
    memory.kind,
    relativeTime(memory.created_at, now),
    memory.role === null ? "every role" : `role ${oneLine(memory.role)}`,
    ...(memory.session_id === null ? [] : [`session ${memory.session_id}`]),
    ...(memory.turn === null ? [] : [`turn ${memory.turn}`]),
    ...(memory.commit === null ? [] : [`commit ${memory.commit.slice(0, 12)}`]),
    ...(memory.tags.length === 0 ? [] : [memory.tags.map((tag) => `#${oneLine(tag)}`).join(" ")]),
  ].join(", ");
  const lines = stripTerminal(memory.text).trimEnd().split("\n");
  const shown = isWhole ? lines : lines.slice(0, LINES);
  const isCut = shown.length < lines.length || memory.truncated;
  return [
    `${strong(memory.memory_id)}  ${about}`,
    quiet(oneLine(memory.project)),
    ...shown.map((line) => `${quiet("|")} ${line}`),
    ...(isCut ? [quiet(`To read all of it: reeve memory list ${memory.memory_id}`)] : []),
    "",
  ].join("\n");
}
