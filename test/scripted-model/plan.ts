// Decides what one request gets: which part of the prompt's script is due, and what it amounts to.
// A script is cut after each shell directive; a request with n tool results behind its prompt is at part n.

import type { Answer, Asked, ToolCall } from "./conversation.ts";
import type { Directive } from "./directive.ts";
import { parseScript } from "./directive.ts";
import { newId } from "./id.ts";
import { exampleOf } from "./schema-example.ts";

export interface Plan {
  /** Which part of the script this is: 0 before the first tool result. */
  readonly part: number;
  /** What happens before the first byte, in order. */
  readonly before: readonly Before[];
  readonly answer: Answer;
  readonly pieces: number;
  readonly pauseMs: number;
  readonly retryAfterSeconds: number | undefined;
  readonly midway: "hang" | "disconnect" | undefined;
}

export type Before = Extract<Directive, { kind: "delay" | "status" | "hang" | "disconnect" }>;

export function planFor(asked: Asked): Plan {
  if (asked.hidden) return plainPlan(asked, hiddenText(asked), undefined);
  if (asked.running !== undefined) return plainPlan(asked, "", asked.running);
  const script = parseScript(asked.prompt);
  const part = partOf(script.directives, asked.results.length);
  const says = part.filter((directive) => directive.kind === "say").map((directive) => directive.text);
  const shell = part.find((directive) => directive.kind === "shell");
  const stream = part.findLast((directive) => directive.kind === "stream");
  const call = shell === undefined ? undefined : callShell(asked, shell.command);
  const text = says.length > 0 ? says.join("\n") : textWithoutSay(asked, script.rest, shell !== undefined, call);
  return {
    ...plainPlan(asked, text, call),
    before: part.filter(isBefore),
    pieces: stream?.pieces ?? 1,
    pauseMs: stream?.pauseMs ?? 0,
    retryAfterSeconds: part.findLast((directive) => directive.kind === "retry-after")?.seconds,
    midway: part.find(isMidway)?.kind,
  };
}

function plainPlan(asked: Asked, text: string, call: ToolCall | undefined): Plan {
  return {
    part: asked.results.length,
    before: [],
    answer: { text, call, usage: usageOf(asked, text, call) },
    pieces: 1,
    pauseMs: 0,
    retryAfterSeconds: undefined,
    midway: undefined,
  };
}

function partOf(directives: readonly Directive[], index: number): readonly Directive[] {
  let part = 0;
  return directives.filter((directive) => {
    const mine = part === index;
    if (directive.kind === "shell") part += 1;
    return mine;
  });
}

function isMidway(directive: Directive): directive is Extract<Directive, { kind: "hang" | "disconnect" }> {
  return (directive.kind === "hang" || directive.kind === "disconnect") && directive.midway;
}

function isBefore(directive: Directive): directive is Before {
  const { kind } = directive;
  if (kind === "hang" || kind === "disconnect") return !directive.midway;
  return kind === "delay" || kind === "status";
}

function callShell(asked: Asked, command: string): ToolCall | undefined {
  if (asked.shell === undefined) return undefined;
  return { id: newId("call"), name: asked.shell.name, input: asked.shell.input(command) };
}

function textWithoutSay(asked: Asked, rest: string, wantsShell: boolean, call: ToolCall | undefined): string {
  if (call !== undefined) return "";
  if (wantsShell) return "This request offers no shell tool.";
  const result = asked.results.at(-1);
  return result === undefined ? `You said: ${rest.slice(0, 200)}` : `Done: ${result.slice(0, 200)}`;
}

/** Claude Code asks again when a summary lacks its tags. */
function hiddenText(asked: Asked): string {
  if (asked.schema !== undefined) return JSON.stringify(exampleOf(asked.schema));
  const tag = /<(summary|state_snapshot)>/.exec(asked.prompt)?.[1];
  return tag === undefined ? "Scripted session" : `<${tag}>Scripted summary</${tag}>`;
}

/** About four characters to a token, as the vendors say. */
function usageOf(asked: Asked, text: string, call: ToolCall | undefined): Answer["usage"] {
  const said = asked.messages.reduce((sum, message) => sum + message.text.length, 0);
  const answered = text.length + (call === undefined ? 0 : JSON.stringify(call.input).length);
  return { input: Math.ceil(said / 4) + 3, output: Math.ceil(answered / 4) + 1 };
}
