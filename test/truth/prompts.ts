/**
 * What is said to an agent: each text carries a tag of its own, by which it is
 * found again wherever it arrives, and makes the scripted model (or the
 * practice agent) do one thing.
 */
import type { Mode } from "./case.ts";

export const TEXT_KINDS = [
  "say",
  "slow",
  "stream",
  "tool",
  "parallel",
  "lines",
  "kb",
  "odd",
  "ask",
  "ask-two",
  "background",
  "agent",
  "429",
  "500",
  "disconnect",
  "disconnect-midway",
  "hang",
  "hang-midway",
  "endless",
] as const;
export type TextKind = (typeof TEXT_KINDS)[number];

/** Long enough that a claim made in the middle of it is no late news of what was before. */
export const SLOW_SECONDS = 7;
export const BACKGROUND_SECONDS = 9;

/** A subagent's text has a tag of another form: it is no message of the person's. */
export function subTagOf(tag: string): string {
  return tag.replaceAll("q", "b");
}

/** `file` is what a command that has to be asked for creates. */
export function promptOf(mode: Mode, kind: TextKind, tag: string, file: string): string {
  if (mode === "command") return kind === "odd" ? `line ${tag} $(touch ${file}) 'x' #{pid} !!` : `line ${tag}`;
  return mode === "practice" ? practicePrompt(kind, tag, file) : modelPrompt(kind, tag, file);
}

function modelPrompt(kind: TextKind, tag: string, file: string): string {
  const reply = `reply ${tag.slice(1, -1)}`;
  const say = `[[say ${reply}]]`;
  switch (kind) {
    case "say":
      return `${say} ${tag}`;
    case "slow":
      return `[[delay ${SLOW_SECONDS}s]] ${say} ${tag}`;
    case "stream":
      return `[[stream 7 1s]] [[say ${reply} one two three four five six seven]] ${tag}`;
    case "tool":
      return `[[shell echo tool]] ${say} ${tag}`;
    case "parallel":
      return `[[shell echo first]] [[and echo second]] ${say} ${tag}`;
    case "lines":
      return `${say} ${tag}\n${lines()}`;
    case "kb":
      return `${say} ${tag} ${kilobytes()}`;
    case "odd":
      return `- it's "quoted" $(touch ${file}) ; & | \\n #{pane_pid} ${say} ${tag}`;
    case "ask":
      return `[[shell touch ${file}]] ${say} ${tag}`;
    case "ask-two":
      return `[[shell touch ${file}]] [[and touch ${file}-two]] ${say} ${tag}`;
    case "background":
      return `[[background sleep ${BACKGROUND_SECONDS}]] ${say} ${tag}`;
    case "agent":
      return `[[agent [[delay ${BACKGROUND_SECONDS}s]] [[say below]] ${subTagOf(tag)}]] ${say} ${tag}`;
    case "429":
    case "500":
      return `[[status ${kind}]] ${tag}`;
    case "disconnect":
      return `[[disconnect]] ${tag}`;
    case "disconnect-midway":
      return `[[say once upon a time]] [[disconnect midway]] ${tag}`;
    case "hang":
      return `[[hang]] ${tag}`;
    case "hang-midway":
      return `[[say once upon a time]] [[hang midway]] ${tag}`;
    case "endless":
      return `[[delay 10m]] [[say too late]] ${tag}`;
  }
}

function practicePrompt(kind: TextKind, tag: string, file: string): string {
  switch (kind) {
    case "slow":
    case "stream":
      return `sleep ${SLOW_SECONDS} ${tag}`;
    case "ask":
    case "ask-two":
      return `ask ${tag}`;
    case "429":
    case "500":
    case "disconnect":
    case "disconnect-midway":
      return `fail ${tag}`;
    case "hang":
    case "hang-midway":
    case "endless":
      return `sleep 600 ${tag}`;
    case "lines":
      return `tell ${tag}\n${lines()}`;
    case "kb":
      return `tell ${tag} ${kilobytes()}`;
    case "odd":
      return `tell ${tag} $(touch ${file}) ; & | \\n #{pane_pid} 'x'`;
    case "say":
    case "tool":
    case "parallel":
    case "background":
    case "agent":
      return `tell ${tag}`;
  }
}

function lines(): string {
  return Array.from({ length: 200 }, (_, index) => `line ${index}`).join("\n");
}

function kilobytes(): string {
  return `${"0123456789abcdef ".repeat(1_200)}end`;
}
