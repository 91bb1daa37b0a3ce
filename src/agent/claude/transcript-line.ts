/**
 * What one line of a transcript says of turns and usage (2.1.325). Hooks report
 * the end of a turn. Only an interruption is taken from here, because no hook
 * fires for it. Lines are written up to 0.3 s after the fact, often after the
 * Stop hook, so the beginning of a turn is taken from here only if no hook
 * reports it: for a prompt that was queued during the turn before.
 */
import type { LimitReading } from "../../session/limit.ts";
import type { Reading, SetupReading, UsageReading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { REMINDER } from "../reminder.ts";
import { isOfSubagent } from "./approval-request.ts";
import { toldIn } from "./background-task.ts";
import { doing } from "./hook-record.ts";
import { type Fields, countIn, fieldsOrNull, parseFields, textIn } from "../../platform/json-fields.ts";
import { textContentOf } from "./message-content.ts";
import { limitsInError, limitsInNotice } from "./usage-limit.ts";

export function readLine(text: string, known: Known): Reading | null {
  const line = parseFields(text);
  if (line === null || line["isSidechain"] === true) return null;
  const reading = meaningOf(text, line, known);
  const setup = setupOf(line);
  if (setup === null) return reading;
  return { source: "transcript", detail: `${textIn(line, "type")} line`, ...reading, setup };
}

/** The mode stands in a line of its own and in those of prompts; errors are said to be from the model `<synthetic>`. */
function setupOf(line: Fields): SetupReading | null {
  const mode = textIn(line, "permissionMode");
  const model = line["apiBlockIndex"] === 0 ? textIn(fieldsOrNull(line["message"]) ?? {}, "model") : null;
  const isModel = model !== null && !model.startsWith("<");
  if (mode === null && !isModel) return null;
  return { ...(isModel ? { model } : {}), ...(mode === null ? {} : { mode }), ...timeOf(line) };
}

function meaningOf(text: string, line: Fields, known: Known): Reading | null {
  switch (line["type"]) {
    case "user":
      return readUserLine(line, known) ?? toldReading(text, known);
    case "attachment":
      return toldReading(text, known);
    case "assistant":
      return (
        readAssistantLine(line) ?? limitReading("error line", limitsInError(line, textOfLine(line), timeOrNull(line)))
      );
    case "system":
      if (line["subtype"] === "compact_boundary")
        return { source: "transcript", detail: "compact_boundary line", compacted: timeOf(line) };
      return limitReading("usage limit notice", limitsInNotice(line, timeOrNull(line)));
    default:
      return null;
  }
}

/** The line that announces a call in the background names it too. */
function toldReading(line: string, { background }: Known): Reading | null {
  const ended = line.includes("moved to the background as task") ? [] : toldIn(line, background);
  return ended.length === 0 ? null : { source: "transcript", detail: "task notification line", background: { ended } };
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

/**
 * A Stop hook of the user's own blocked the end of the turn: written when all Stop hooks have ended, ours among them.
 * A stop that ours blocked was told to nobody, so nothing is taken back (reminder.ts).
 */
function isBlockedStop(text: string): boolean {
  return text.startsWith("Stop hook feedback:\n") && !text.includes(REMINDER);
}

function readUserLine(line: Fields, known: Known): Reading | null {
  const id = textIn(line, "promptId");
  const turn = id === null ? {} : { id, ...timeOf(line) };
  if (line["toolDenialKind"] === "user-rejected") return denialOf(known);
  const text = textOfLine(line);
  if (isInterruption(text))
    return {
      source: "transcript",
      detail: "request interrupted line",
      turn: { phase: "interrupted", ...turn },
      ...doing("idle", known),
    };
  if (line["isMeta"] === true && isBlockedStop(text) && id !== null)
    return {
      source: "transcript",
      detail: "Stop hook feedback line",
      turn: { phase: "started", ...turn, prolongs: true },
      ...doing("working", known),
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

function timeOrNull(line: Fields): number | null {
  return timeOf(line).at ?? null;
}

function textOfLine(line: Fields): string {
  return textContentOf(fieldsOrNull(line["message"]));
}

function limitReading(detail: string, limits: readonly LimitReading[]): Reading | null {
  return limits.length === 0 ? null : { source: "transcript", detail, limits };
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
