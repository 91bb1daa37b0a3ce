// Owns the normal form into which each API's request is read, and the rule which text a person typed.

export type Api = "responses" | "messages" | "gemini";

export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
}

export interface ShellTool {
  readonly name: string;
  readonly input: (command: string) => unknown;
}

export interface BackgroundTools {
  readonly shell?: ShellTool;
  /** Its command is the prompt of a subagent. */
  readonly agent?: ShellTool;
}

/** One request in normal form. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  readonly hidden: boolean;
  /** It only warms up (codex): nothing is to be said. */
  readonly isWarmUp?: boolean;
  /** What identifies the conversation, when the agent says so. Empty otherwise. */
  readonly session: string;
  /** The newest text that the person typed. */
  readonly prompt: string;
  readonly messages: readonly Message[];
  /** Every text that the person typed, in order, as the whole conversation shows it. */
  readonly typed: readonly string[];
  /** What the shell commands of this turn printed, without the frame that the agent puts around it. */
  readonly results: readonly string[];
  /** A shell command of this turn that still runs in the agent, and the call that waits for it. */
  readonly running: ToolCall | undefined;
  /** A tool of an MCP server works on as a task, and the agent will tell when it is done. */
  readonly isTold?: boolean;
  readonly shell: ShellTool | undefined;
  /** The names of the tools it may call. One of a namespace (codex) is `<namespace>__<name>`. */
  readonly offered: readonly string[];
  /** Of tools; codex names a tool and its namespace apart. */
  readonly namespaces?: readonly string[];
  /** Tools that work on in the background, for the agents that have them. */
  readonly background: BackgroundTools;
  /** The JSON schema that the answer has to follow. */
  readonly schema: unknown;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface Usage {
  readonly input: number;
  readonly output: number;
}

export interface Answer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage;
}

export class BadRequest extends Error {}

/** Texts that the agents add in the role of the user: codex 0.166.0, Claude Code 2.1.325, Gemini CLI 0.61.0. */
const addedByAgent = [
  /^<(?:environment_context|user_instructions|turn_aborted|skills?_instructions|permissions instructions|user_shell_command|subagent_notification|model_switch|collaboration_mode)\b/,
  /^# AGENTS\.md instructions/,
  /^Another language model started to solve this problem/,
  /^Tools? loaded\.$/,
  /^<(?:local-command-|command-(?:name|message|args)|bash-(?:input|stdout|stderr))/,
  /^\[Request interrupted by user/,
  /^This session is being continued from a previous conversation/,
  /^<(?:session_context|hook_context|state_snapshot)\b/,
  /^--- (?:Content from|End of content)/,
];

/** How Claude Code 2.1.325 hands on what was typed while a turn was running. */
const typedMidTurn = /^The user sent a new message while you were working:\n([\s\S]*?)\n\nThis is how Claude Code/;

/** How Claude Code 2.1.325 and codex 0.166.0 hand on what a hook answered to the end of a turn; Gemini CLI adds nothing. */
const saidByHook = [/^Stop hook feedback:\n([\s\S]*)$/, /^<hook_prompt [^>]*>([\s\S]*)<\/hook_prompt>$/];

/** The person's words in one text of the role user: empty when the agent wrote it. */
export function typedText(text: string): string {
  const words = text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "").trim();
  if (addedByAgent.some((pattern) => pattern.test(words))) return "";
  const framed = [typedMidTurn, ...saidByHook].map((pattern) => pattern.exec(words)?.[1]?.trim());
  return framed.find((text) => text !== undefined) ?? words;
}

/** The texts among the parts of one message that the person typed. */
export function allTyped(texts: readonly string[]): readonly string[] {
  return texts.map(typedText).filter((text) => text !== "");
}

/** The last of them. */
export function lastTyped(texts: readonly string[]): string {
  return allTyped(texts).at(-1) ?? "";
}
