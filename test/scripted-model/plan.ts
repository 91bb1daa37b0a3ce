// Decides what one request gets: which part of the prompt's script is due, and what it amounts to.
// A script is cut after each call of a tool (calls joined by `and` are one answer); as many tool results as calls behind
// the prompt tell which part is due.

import type { Answer, Asked, ShellTool, ToolCall } from "./conversation.ts";
import type { CallKind, Directive } from "./directive.ts";
import { parseScript, toolCallIn } from "./directive.ts";
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
  /** How much of the account's limit is used, as the answer says. */
  readonly usedPercent: number | undefined;
}

export type Before = Extract<
  Directive,
  { kind: "delay" | "until" | "status" | "hang" | "disconnect" | "limit" | "error" }
>;

export function planFor(asked: Asked): Plan {
  if (asked.isWarmUp === true) return plainPlan(asked, "", []);
  if (asked.hidden) return plainPlan(asked, hiddenText(asked), []);
  if (asked.running !== undefined) return plainPlan(asked, "", [asked.running]);
  if (asked.isTold === true) return plainPlan(asked, "Waiting to be told.", []);
  const script = parseScript(asked.prompt);
  const part = partOf(script.directives, asked.results.length);
  const says = part.filter((directive) => directive.kind === "say").map((directive) => directive.text);
  const wanted = part.filter(isCall);
  const stream = part.findLast((directive) => directive.kind === "stream");
  const calls = wanted.flatMap((directive) => callOf(asked, directive));
  const text = says.length > 0 ? says.join("\n") : textWithoutSay(asked, script.rest, wanted.length > 0, calls);
  return {
    ...plainPlan(asked, text, calls),
    before: part.filter(isBefore),
    pieces: stream?.pieces ?? 1,
    pauseMs: stream?.pauseMs ?? 0,
    retryAfterSeconds: part.findLast((directive) => directive.kind === "retry-after")?.seconds,
    midway: part.find(isMidway)?.kind,
    usedPercent: part.findLast((directive) => directive.kind === "used")?.percent,
  };
}

function plainPlan(asked: Asked, text: string, calls: readonly ToolCall[]): Plan {
  return {
    part: asked.results.length,
    before: [],
    answer: { text, calls, usage: usageOf(asked, text, calls) },
    pieces: 1,
    pauseMs: 0,
    retryAfterSeconds: undefined,
    midway: undefined,
    usedPercent: undefined,
  };
}

function partOf(directives: readonly Directive[], results: number): readonly Directive[] {
  const parts: Directive[][] = [[]];
  for (const directive of directives) {
    const last = parts.at(-1) ?? [];
    const isJoined = directive.kind === "and" && last.length === 0 && parts.length > 1;
    if (isJoined) parts.at(-2)?.push(directive);
    else last.push(directive);
    if (isCall(directive) && !isJoined) parts.push([]);
  }
  let left = results;
  for (const part of parts) {
    const calls = part.filter(isCall).length;
    if (calls > left || calls === 0) return part;
    left -= calls;
  }
  return [];
}

function isCall(directive: Directive): directive is Extract<Directive, { kind: CallKind }> {
  return ["shell", "and", "background", "agent", "tool"].includes(directive.kind);
}

function isMidway(directive: Directive): directive is Extract<Directive, { kind: "hang" | "disconnect" }> {
  return (directive.kind === "hang" || directive.kind === "disconnect") && directive.midway;
}

function isBefore(directive: Directive): directive is Before {
  const { kind } = directive;
  if (kind === "hang" || kind === "disconnect") return !directive.midway;
  return kind === "delay" || kind === "until" || kind === "status" || kind === "limit" || kind === "error";
}

function callOf(
  asked: Asked,
  { kind, command }: { readonly kind: CallKind; readonly command: string },
): readonly ToolCall[] {
  if (kind === "tool")
    return [toolCallIn(withResults(command, asked.results))].flatMap((call) =>
      call === undefined ? [] : [{ id: newId("call"), ...call }],
    );
  const tool = toolFor(asked, kind);
  return tool === undefined ? [] : [{ id: newId("call"), name: tool.name, input: tool.input(command) }];
}

/** `"{{cursor}}"` stands for the field `cursor` of the newest result that has one. */
function withResults(command: string, results: readonly string[]): string {
  return command.replaceAll(/"\{\{(\w+)\}\}"/g, (whole, name: string) => {
    const field = new RegExp(`"${name}": ?("[^"]*"|-?\\d+)`);
    return results.map((result) => field.exec(result)?.[1]).findLast((value) => value !== undefined) ?? whole;
  });
}

function toolFor(asked: Asked, kind: CallKind): ShellTool | undefined {
  if (kind === "background") return asked.background.shell;
  return kind === "agent" ? asked.background.agent : asked.shell;
}

function textWithoutSay(asked: Asked, rest: string, wantsCall: boolean, calls: readonly ToolCall[]): string {
  if (calls.length > 0) return "";
  if (wantsCall) return "This request offers no such tool.";
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
function usageOf(asked: Asked, text: string, calls: readonly ToolCall[]): Answer["usage"] {
  const said = asked.messages.reduce((sum, message) => sum + message.text.length, 0);
  const answered = text.length + calls.reduce((sum, call) => sum + JSON.stringify(call.input).length, 0);
  return { input: Math.ceil(said / 4) + 3, output: Math.ceil(answered / 4) + 1 };
}
