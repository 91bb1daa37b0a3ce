/** What the agent's own transcript tells, as parts of the story: what was said, and what tools were called with and answered. */
import { toolGist } from "../tool-gist.ts";
import { bounded, inOneLine, type StoryPart } from "./entry.ts";

/** A message of a transcript, whoever's it is. */
export interface SaidMessage {
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly text: string;
  readonly tool: {
    readonly id: string | null;
    readonly name: string;
    readonly input: string | null;
    readonly isError: boolean;
  } | null;
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly at: string | null;
}

/**
 * In the order of the transcript. A result stands with its call. What has
 * no time of its own has that of what came before it, and before all others `since`.
 */
export function transcriptParts(messages: readonly SaidMessage[], since: string): readonly StoryPart[] {
  const parts: StoryPart[] = [];
  /** Where the call with this id is, until it is answered. */
  const open = new Map<string, number>();
  let at = since;
  for (const [index, message] of messages.entries()) {
    at = message.at !== null && !Number.isNaN(Date.parse(message.at)) ? new Date(message.at).toISOString() : at;
    const called = message.role === "tool" ? open.get(message.tool?.id ?? "") : undefined;
    const call = called === undefined ? undefined : parts[called];
    if (called !== undefined && call !== undefined) {
      parts[called] = answered(call, message, at);
      open.delete(message.tool?.id ?? "");
      continue;
    }
    if (message.text.trim() !== "" && message.role !== "tool") parts.push(said(message, 2 * index + 1, at));
    if (message.tool === null) continue;
    if (message.role !== "tool" && message.tool.id !== null) open.set(message.tool.id, parts.length);
    parts.push(toolPart(message, message.tool, 2 * index + 2, at));
  }
  return parts;
}

const COMMON = { source: "transcript", mono: null, turn: null } as const;

function said({ role, text, usage }: SaidMessage, seq: number, at: string): StoryPart {
  return {
    ...COMMON,
    seq,
    at,
    kind: "said",
    type: "said",
    actor: role === "assistant" ? "agent" : role,
    what: inOneLine(text),
    text: bounded(text),
    failed: false,
    ms: null,
    data: { role, usage },
  };
}

function toolPart(
  { role, text, usage }: SaidMessage,
  tool: NonNullable<SaidMessage["tool"]>,
  seq: number,
  at: string,
): StoryPart {
  const isResult = role === "tool";
  const about = tool.input === null ? "" : toolGist(tool.input);
  return {
    ...COMMON,
    seq,
    at,
    kind: "tools",
    type: isResult ? "tool-result" : "tool-call",
    actor: isResult ? "tool" : "agent",
    what: inOneLine(`${tool.name}${about === "" ? "" : `: ${about}`}${isResult && tool.isError ? " failed" : ""}`),
    text: bounded(isResult ? text : (tool.input ?? "")),
    failed: tool.isError,
    ms: null,
    data: {
      id: tool.id,
      name: tool.name,
      input: tool.input === null ? null : bounded(tool.input),
      result: isResult ? bounded(text) : null,
      usage,
    },
  };
}

function answered(call: StoryPart, { text, tool }: SaidMessage, at: string): StoryPart {
  const took = Date.parse(at) - Date.parse(call.at);
  const failed = tool?.isError === true;
  return {
    ...call,
    failed,
    what: failed ? `${call.what} (failed)` : call.what,
    ms: took >= 0 ? took : null,
    data: { ...call.data, result: bounded(text) },
  };
}
