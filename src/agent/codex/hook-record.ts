/**
 * The records in the spool: those of Codex's hooks (JSON on standard input), of
 * its `notify` (JSON as the last argument), and what the bootstrap reports
 * about the thread it made.
 *
 * In hooks mode the rollout tells how a turn ended. Hooks tell what the rollout
 * does not: that a prompt was taken, and that something is asked. A Stop hook
 * only announces the end where there is a rollout to read: another Stop hook
 * may still prolong the turn (0.166.0), and the rollout's `task_complete`
 * follows within 50 ms. If the rollout is lost, the announcement counts as the
 * end.
 */
import type { ApprovalReading, Reading, TurnReading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { approvalOfHook, approvalIdOfHook, concernsOfHook } from "./hook-approval.ts";
import { type Fields, isFields, listOf, textOf } from "../../platform/json-fields.ts";
import { readToolsLate } from "../tools-awaited.ts";
import { isThreadId, threadOfRollout } from "./thread-id.ts";

export function readSpooled(record: unknown, known: Known): Reading | null {
  if (!isFields(record)) return null;
  const late = readToolsLate(record);
  if (late !== null) return late;
  if (record["reeve"] === "codex-thread") return readBootstrap(record);
  if (record["type"] === "agent-turn-complete") return readNotify(record, known);
  return readHook(record, known);
}

/** Of bootstrap.ts: `{"reeve":"codex-thread","thread_id":…,"rollout_path":…}`. */
function readBootstrap(record: Fields): Reading | null {
  const { thread_id: id, rollout_path: path } = record;
  if (!isThreadId(id)) return null;
  return { source: "hook", detail: `thread ${id} opened`, nativeId: id, ...rollout(path) };
}

/** Also fires for the hidden thread that makes a title (0.166.0): only the session's own counts. */
function readNotify(record: Fields, known: Known): Reading | null {
  const { "thread-id": thread, "turn-id": turn, "input-messages": prompts } = record;
  if (known.nativeId !== null && isThreadId(thread) && thread !== known.nativeId) return null;
  if (known.nativeId === null && isTitlePrompt(textOf(listOf(prompts)[0]))) return null;
  // Old versions count turns here ("1") and name them nowhere else.
  const id = isThreadId(turn) ? turn : null;
  return {
    source: "hook",
    detail: "notify: agent-turn-complete",
    activity: "idle",
    turn: { phase: "completed", ...(id === null ? {} : { id }) },
    ...(known.nativeId === null && isThreadId(thread) ? { nativeId: thread } : {}),
  };
}

function isTitlePrompt(prompt: string | null): boolean {
  return prompt?.startsWith("Generate a concise, single-line task title") ?? false;
}

function readHook(record: Fields, known: Known): Reading | null {
  const { session_id: thread, transcript_path: path } = record;
  const event = textOf(record["hook_event_name"]);
  if (event === null || !isThreadId(thread)) return null;
  // `/new` and `/clear` begin another thread in the same process; only its start may say so.
  if (known.nativeId !== null && thread !== known.nativeId && event !== "SessionStart") return null;
  const meaning = meaningOf(event, record, known);
  if (meaning === null) return null;
  return { source: "hook", detail: `${event} hook`, nativeId: thread, ...rollout(path), ...meaning };
}

type Meaning = Pick<Reading, "activity" | "asks" | "turn" | "ending" | "approval">;

function meaningOf(event: string, record: Fields, known: Known): Meaning | null {
  const id = textOf(record["turn_id"]);
  const named = id === null ? {} : { id };
  switch (event) {
    case "SessionStart":
    case "SessionEnd":
      return {};
    case "UserPromptSubmit": {
      const prompt = textOf(record["prompt"]);
      const turn: TurnReading = { phase: "started", ...named, ...(prompt === null ? {} : { prompt }) };
      return { activity: "working", turn };
    }
    case "PermissionRequest": {
      const requested = approvalOfHook(record);
      return {
        activity: "awaiting-approval",
        asks: requested.title,
        approval: { requested, concerns: concernsOfHook(record) },
      };
    }
    case "PostToolUse": {
      const settled = settledBy(record, known);
      return settled === null ? null : { activity: "working", approval: settled };
    }
    case "Stop":
      return known.transcriptPath === null
        ? { activity: "idle", turn: { phase: "completed", ...named } }
        : { ending: named };
    case "Interrupt": {
      const denied: ApprovalReading = { settled: { id: null, decision: "denied" } };
      const turn: TurnReading = { phase: "interrupted", ...named };
      return { activity: "idle", turn, ...(known.approvals.length === 0 ? {} : { approval: denied }) };
    }
    default:
      return null;
  }
}

/** A tool that ran was allowed to. */
function settledBy(record: Fields, known: Known): ApprovalReading | null {
  const id = approvalIdOfHook(record);
  return known.approvals.some((open) => open.id === id) ? { settled: { id, decision: "approved" } } : null;
}

function rollout(path: unknown): { readonly transcriptPath?: string } {
  const text = textOf(path);
  return text !== null && threadOfRollout(text) !== null ? { transcriptPath: text } : {};
}
