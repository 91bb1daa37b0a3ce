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

export interface Prompt {
  readonly text: string;
  /** What the model says at the end of the turn; null where it never gets there or says nothing of its own. */
  readonly says: string | null;
}

/** Long enough that a claim made in the middle of it is no late news of what was before. */
export const SLOW_SECONDS = 7;
export const BACKGROUND_SECONDS = 9;

/** A subagent's text has a tag of another form: it is no message of the person's. */
export function subTagOf(tag: string): string {
  return tag.replaceAll("q", "b");
}

/** `file` is what a command that has to be asked for creates. */
export function promptOf(mode: Mode, kind: TextKind, tag: string, file: string): Prompt {
  if (mode === "command")
    return { text: kind === "odd" ? `line ${tag} $(touch ${file}) 'x' #{pid} !!` : `line ${tag}`, says: null };
  return mode === "practice" ? practicePrompt(kind, tag, file) : modelPrompt(kind, tag, file);
}

function modelPrompt(kind: TextKind, tag: string, file: string): Prompt {
  const reply = `reply ${tag.slice(1, -1)}`;
  const say = `[[say ${reply}]]`;
  const answered = (text: string): Prompt => ({ text: `${text} ${tag}`, says: reply });
  const unanswered = (text: string): Prompt => ({ text: `${text} ${tag}`, says: null });
  switch (kind) {
    case "say":
      return answered(say);
    case "slow":
      return answered(`[[delay ${SLOW_SECONDS}s]] ${say}`);
    case "stream":
      return answered(`[[stream 7 1s]] [[say ${reply} one two three four five six seven]]`);
    case "tool":
      return answered(`[[shell echo tool]] ${say}`);
    case "parallel":
      return answered(`[[shell echo first]] [[and echo second]] ${say}`);
    case "lines":
      return { text: `${say} ${tag}\n${lines()}`, says: reply };
    case "kb":
      return { text: `${say} ${tag} ${kilobytes()}`, says: reply };
    case "odd":
      return { text: `- it's "quoted" $(touch ${file}) ; & | \\n #{pane_pid} ${say} ${tag}`, says: reply };
    case "ask":
      return answered(`[[shell touch ${file}]] ${say}`);
    case "ask-two":
      return answered(`[[shell touch ${file}]] [[and touch ${file}-two]] ${say}`);
    case "background":
      return answered(`[[background sleep ${BACKGROUND_SECONDS}]] ${say}`);
    case "agent":
      return answered(`[[agent [[delay ${BACKGROUND_SECONDS}s]] [[say below]] ${subTagOf(tag)}]] ${say}`);
    case "429":
    case "500":
      return unanswered(`[[status ${kind}]]`);
    case "disconnect":
      return unanswered("[[disconnect]]");
    case "disconnect-midway":
      return unanswered("[[say once upon a time]] [[disconnect midway]]");
    case "hang":
      return unanswered("[[hang]]");
    case "hang-midway":
      return unanswered("[[say once upon a time]] [[hang midway]]");
    case "endless":
      return unanswered("[[delay 10m]] [[say too late]]");
  }
}

function practicePrompt(kind: TextKind, tag: string, file: string): Prompt {
  const silent = (text: string): Prompt => ({ text, says: null });
  switch (kind) {
    case "slow":
    case "stream":
      return silent(`sleep ${SLOW_SECONDS} ${tag}`);
    case "ask":
    case "ask-two":
      return { text: `ask ${tag}`, says: tag };
    case "429":
    case "500":
    case "disconnect":
    case "disconnect-midway":
      return silent(`fail ${tag}`);
    case "hang":
    case "hang-midway":
    case "endless":
      return silent(`sleep 600 ${tag}`);
    case "lines":
      return { text: `tell ${tag}\n${lines()}`, says: tag };
    case "kb":
      return { text: `tell ${tag} ${kilobytes()}`, says: tag };
    case "odd":
      return { text: `tell ${tag} $(touch ${file}) ; & | \\n #{pane_pid} 'x'`, says: tag };
    case "say":
    case "tool":
    case "parallel":
    case "background":
    case "agent":
      return { text: `tell ${tag}`, says: tag };
  }
}

function lines(): string {
  return Array.from({ length: 200 }, (_, index) => `line ${index}`).join("\n");
}

function kilobytes(): string {
  return `${"0123456789abcdef ".repeat(1_200)}end`;
}
