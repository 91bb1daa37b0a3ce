/**
 * What the practice program spools at each event: one JSON object per file.
 *
 *   event         one of HOOK_EVENTS
 *   conversation  UUID
 *   turn          number of the turn it is about; at session-start and
 *                 session-end that of the latest turn, 0 before the first
 *   at            ISO 8601, UTC
 *   text          optional: the prompt (turn-started), the question
 *                 (approval-requested), "yes" or "no" (approval-answered), the
 *                 error (turn-failed), why (session-end); cut at TEXT_LIMIT
 *   failure       optional, at turn-failed: its kind
 *   limit         optional, at the end of a turn: {name, usedPercent, resetsAt}
 *                 of the pretended limit; resetsAt in milliseconds since the
 *                 epoch, null where it is not said
 */
import { FAILURE_KINDS, type FailureKind } from "../../session/failure.ts";
import { isConversationId } from "./conversation-id.ts";

export const HOOK_EVENTS = [
  "session-start",
  "turn-started",
  "approval-requested",
  "approval-answered",
  "turn-completed",
  "turn-failed",
  "turn-interrupted",
  "session-end",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

export interface HookRecord {
  readonly event: HookEvent;
  readonly conversation: string;
  readonly turn: number;
  readonly at: string;
  readonly text?: string;
  readonly failure?: FailureKind;
  readonly limit?: HookLimit;
}

export interface HookLimit {
  readonly name: string;
  readonly usedPercent: number;
  readonly resetsAt: number | null;
}

/** Characters of text in one record: enough for a question, little enough to be read at once. */
export const TEXT_LIMIT = 2000;

/** The record in a spooled value, or null: the spool is writable by whatever runs in the session. */
export function parseHookRecord(value: unknown): HookRecord | null {
  if (typeof value !== "object" || value === null) return null;
  const { event, conversation, turn, at, text, failure, limit } = value as Record<string, unknown>;
  const known = HOOK_EVENTS.find((name) => name === event);
  if (known === undefined || !isConversationId(conversation)) return null;
  if (typeof turn !== "number" || !Number.isSafeInteger(turn) || turn < 0) return null;
  if (typeof at !== "string" || Number.isNaN(Date.parse(at))) return null;
  if (text !== undefined && typeof text !== "string") return null;
  const kind = FAILURE_KINDS.find((name) => name === failure);
  const said = parseLimit(limit);
  return {
    event: known,
    conversation,
    turn,
    at,
    ...(text !== undefined && { text: text.slice(0, TEXT_LIMIT) }),
    ...(kind !== undefined && { failure: kind }),
    ...(said !== null && { limit: said }),
  };
}

function parseLimit(value: unknown): HookLimit | null {
  if (typeof value !== "object" || value === null) return null;
  const { name, usedPercent, resetsAt } = value as Record<string, unknown>;
  if (typeof name !== "string" || !/^[\w-]{1,40}$/.test(name)) return null;
  if (typeof usedPercent !== "number" || !(usedPercent >= 0 && usedPercent <= 100)) return null;
  if (resetsAt !== null && !Number.isSafeInteger(resetsAt)) return null;
  return { name, usedPercent, resetsAt: resetsAt as number | null };
}
