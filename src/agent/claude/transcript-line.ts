/**
 * What one line of a transcript says of turns and usage (2.1.325). Hooks report
 * the end of a turn. Only an interruption is taken from here, because no hook
 * fires for it. Lines are written up to 0.3 s after the fact, often after the
 * Stop hook, so the beginning of a turn is taken from here only if no hook
 * reports it: for a prompt that was queued during the turn before.
 */
import type { Reading, UsageReading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { isOfSubagent } from "./approval-request.ts";
import { doing } from "./hook-record.ts";
import { type Fields, countIn, fieldsOrNull, parseFields, textIn } from "../../platform/json-fields.ts";
import { textContentOf } from "./message-content.ts";

export function readLine(text: string, known: Known): Reading | null {
  const line = parseFields(text);
  if (line === null || line["isSidechain"] === true) return null;
  switch (line["type"]) {
    case "user":
      return readUserLine(line, known);
    case "assistant":
      return readAssistantLine(line);
    default:
      return null;
  }
}

/**
 * A file without such a line is not resumed ("No conversation found"), and its
 * id is not taken again ("already in use"; both end with status 1, 2.1.325).
 * Killed in the first 0.1 s of its first turn it leaves only lines about modes.
 */
export function holdsMessage(text: string): boolean {
  if (!/"type":"(?:user|assistant)"/.test(text)) return false;
  const line = parseFields(text);
  const isMessage = line?.["type"] === "user" || line?.["type"] === "assistant";
  return isMessage && line["isSidechain"] !== true && line["isMeta"] !== true;
}

function readUserLine(line: Fields, known: Known): Reading | null {
  const id = textIn(line, "promptId");
  const turn = id === null ? {} : { id, ...timeOf(line) };
  if (line["toolDenialKind"] === "user-rejected") return denialOf(known);
  const text = textContentOf(fieldsOrNull(line["message"]));
  if (isInterruption(text))
    return {
      source: "transcript",
      detail: "request interrupted line",
      turn: { phase: "interrupted", ...turn },
      ...doing("idle", known),
    };
  if (line["promptSource"] !== "queued" || line["isMeta"] === true || text === "") return null;
  return {
    source: "transcript",
    detail: "queued prompt line",
    turn: { phase: "started", ...turn, prompt: text },
    ...doing("working", known),
  };
}

/** Of a conversation that is continued the transcript holds turns from before there was a session. */
function timeOf(line: Fields): { readonly at?: number } {
  const at = Date.parse(textIn(line, "timestamp") ?? "");
  return Number.isNaN(at) ? {} : { at };
}

/** Of the main agent's question: subagents have transcripts of their own. */
function denialOf({ approvals }: Known): Reading | null {
  const denied = approvals.find((approval) => !isOfSubagent(approval));
  if (denied === undefined) return null;
  const settled = { id: denied.id, decision: "denied" } as const;
  return { source: "transcript", detail: "tool use rejected line", approval: { settled } };
}

export function isInterruption(text: string): boolean {
  return text === "[Request interrupted by user]" || text === "[Request interrupted by user for tool use]";
}

/** One answer spans several lines, one per block, and each carries the usage of all: the first block's counts. */
function readAssistantLine(line: Fields): Reading | null {
  const usage = fieldsOrNull(fieldsOrNull(line["message"])?.["usage"]);
  if (line["apiBlockIndex"] !== 0 || usage === null) return null;
  return { source: "transcript", detail: "assistant line", usage: usageOf(usage) };
}

export function usageOf(usage: Fields): UsageReading {
  const cached = countIn(usage, "cache_read_input_tokens");
  return {
    kind: "added",
    usage: {
      inputTokens: countIn(usage, "input_tokens") + countIn(usage, "cache_creation_input_tokens") + cached,
      cachedInputTokens: cached,
      outputTokens: countIn(usage, "output_tokens"),
      costUsd: null,
    },
  };
}
