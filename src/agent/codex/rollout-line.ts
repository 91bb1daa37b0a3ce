/**
 * One line of a rollout (`{"timestamp":…,"type":…,"payload":{…}}`) as a
 * reading: how turns begin and end, and what they cost. Approvals are not in
 * it. Seen in 0.166.0; what differs in older ones is in
 * docs/spec/agent-behaviors/codex.md.
 */
import type { Reading, TurnReading, UsageReading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { errorText } from "./error-text.ts";
import { failureOf } from "./failure-of.ts";
import { type Fields, fieldsOf, isFields, parseFields, textOf } from "../../platform/json-fields.ts";
import { limitOfError, windowsOf } from "./rate-limit.ts";
import { isThreadId } from "./thread-id.ts";
import { usageOf } from "./token-usage.ts";
import { userPromptOf } from "./user-prompt.ts";
import { supports } from "./version-support.ts";

export function readRolloutLine(line: string, known: Known): Reading | null {
  const entry = parseFields(line);
  if (entry === null) return null;
  const payload = fieldsOf(entry["payload"]);
  if (entry["type"] === "session_meta") return readMeta(payload, known);
  if (entry["type"] === "turn_context") return readContext(payload, timeOf(entry));
  if (entry["type"] === "compacted")
    return { source: "transcript", detail: "compacted line", compacted: timeOf(entry) };
  if (entry["type"] !== "event_msg") return null;
  const type = textOf(payload["type"]);
  const meaning = type === null ? null : meaningOf(type, payload, timeOf(entry), known);
  return meaning === null ? null : { source: "transcript", detail: `${type} line`, ...meaning };
}

function readMeta(payload: Fields, known: Known): Reading | null {
  const { id } = payload;
  if (known.nativeId !== null || !isThreadId(id)) return null;
  return { source: "transcript", detail: "session_meta line", nativeId: id };
}

/** What the turn works with: when it asks, and what the sandbox lets it do unasked, are its mode. */
function readContext(payload: Fields, time: { readonly at?: number }): Reading | null {
  const model = textOf(payload["model"]);
  const words = [textOf(payload["approval_policy"]), textOf(fieldsOf(payload["sandbox_policy"])["type"])];
  const mode = words.filter((word) => word !== null).join(", ");
  if (model === null && mode === "") return null;
  const setup = { ...(model === null ? {} : { model }), ...(mode === "" ? {} : { mode }), ...time };
  return { source: "transcript", detail: "turn_context line", setup };
}

/** Of a conversation that is continued the rollout holds turns from before there was a session. */
function timeOf(entry: Fields): { readonly at?: number } {
  const at = Date.parse(textOf(entry["timestamp"]) ?? "");
  return Number.isNaN(at) ? {} : { at };
}

function meaningOf(
  type: string,
  payload: Fields,
  time: { readonly at?: number },
  known: Known,
): Pick<Reading, "activity" | "turn" | "usage" | "limits"> | null {
  const turnId = textOf(payload["turn_id"]);
  // Without a name a turn is told from the one before it by its beginning, whose time not every source knows.
  const named = turnId === null ? {} : { id: turnId, ...time };
  switch (type) {
    case "task_started":
    case "turn_started":
      return { activity: "working", turn: { phase: "started", ...named } };
    case "item_completed":
    case "user_message": {
      const prompt = userPromptOf(payload);
      // Without a turn's id (before 0.135) it is a beginning only where no line has announced one.
      if (prompt === null || (turnId === null && known.turnOpen)) return null;
      return { activity: "working", turn: { phase: "started", ...named, prompt } };
    }
    case "task_complete":
    case "turn_complete":
      return { activity: "idle", turn: endOf(payload, named, known.version), ...limitsIn(payload, time) };
    case "turn_aborted":
      return { activity: "idle", turn: { phase: "interrupted", ...named } };
    case "token_count": {
      const usage = totalOf(payload);
      const limits = windowsOf(fieldsOf(payload["rate_limits"]), time.at);
      if (usage === null && limits.length === 0) return null;
      return { ...(usage === null ? {} : { usage }), ...(limits.length === 0 ? {} : { limits }) };
    }
    default:
      return null;
  }
}

/** The line before it tells the same with the moment itself, where the vendor gave one. */
function limitsIn({ error }: Fields, { at = null }: { readonly at?: number | null }): Pick<Reading, "limits"> {
  const limits = isFields(error) ? limitOfError(error, at, false) : [];
  return limits.length === 0 ? {} : { limits };
}

function endOf(payload: Fields, named: { readonly id?: string }, version: string | null): TurnReading {
  const { error, last_agent_message: answer } = payload;
  if (isFields(error)) return { phase: "failed", ...named, error: errorText(error), failure: failureOf(error) };
  if (answer !== null || supports(version, "errorInRollout")) return { phase: "completed", ...named };
  return { phase: "failed", ...named, error: "Codex ended the turn without an answer; its screen says why." };
}

function totalOf(payload: Fields): UsageReading | null {
  const total = fieldsOf(payload["info"])["total_token_usage"];
  return isFields(total) ? { kind: "total", usage: usageOf(total) } : null;
}
