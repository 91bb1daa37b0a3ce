/**
 * What Claude Code's hooks report (2.1.325). Their `prompt_id` names the turn;
 * the transcript calls it `promptId`.
 *
 * UserPromptSubmit of a text that is submitted during a turn names the turn
 * under way, whether the text is taken into it or becomes the next one. Stop
 * fires while background tasks still run, and lists them; when one ends it
 * wakes the agent, which goes on with the turn. Records with an `agent_id` are
 * a subagent's: only its questions count, and that it works.
 */
import { isAbsolute } from "node:path";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Reading, TurnReading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import {
  approvalOf,
  concernsOf,
  isAbout,
  openQuestionOf,
  openSubagentQuestion,
  questionHash,
} from "./approval-request.ts";
import { backgroundText } from "../../session/background.ts";
import { endedIn, holdingAt, isNotification, movedIn, runningIn, subagentReading } from "./background-task.ts";
import { errorOfHook, failureOf } from "./failure-of.ts";
import { type Fields, fieldsOrNull, textIn } from "../../platform/json-fields.ts";
import { readToolsLate } from "../tools-awaited.ts";
import { limitOfError } from "./usage-limit.ts";

type Content = Omit<Reading, "source" | "detail"> & { readonly note?: string };

export function readHook(value: unknown, known: Known): Reading | null {
  const outer = fieldsOrNull(value);
  const record = fieldsOrNull(outer?.["record"]) ?? outer;
  if (record === null) return null;
  const late = readToolsLate(record);
  if (late !== null) return late;
  const event = textIn(record, "hook_event_name");
  const askedAt = outer?.["at"];
  const content = contentOf(
    event,
    record,
    typeof askedAt === "number" && askedAt >= 0 ? Math.trunc(askedAt) : 0,
    known,
  );
  if (content === null) return null;
  const { note, ...rest } = content;
  return { source: "hook", detail: note === undefined ? `${event} hook` : `${event} hook, ${note}`, ...rest };
}

function contentOf(event: string | null, record: Fields, askedAt: number, known: Known): Content | null {
  const isSubagent = textIn(record, "agent_id") !== null;
  switch (event) {
    case "SessionStart":
      return isSubagent ? null : { ...conversationOf(record), note: textIn(record, "source") ?? "startup" };
    case "UserPromptSubmit":
      return isSubagent ? null : { ...conversationOf(record), ...startOf(record), ...doing("working", known) };
    case "SubagentStart":
    case "SubagentStop":
      return workOf(event, record);
    case "Stop":
      return isSubagent ? null : endOf(record, known);
    case "StopFailure":
      return isSubagent ? null : failedOf(record, known);
    case "PermissionRequest":
      return questionOf(record, askedAt);
    case "PostToolUse":
    case "PostToolUseFailure":
      return settlementOf(record, known);
    case "Notification":
      return {
        activity: "awaiting-input",
        asks: stripTerminal(textIn(record, "message") ?? "Claude Code needs input."),
      };
    default:
      return null;
  }
}

/** While a subagent's question is on the screen, whatever is typed would answer it. */
export function doing(activity: "working" | "idle", { approvals }: Known): Pick<Reading, "activity" | "asks"> {
  const question = openSubagentQuestion(approvals);
  return question === undefined ? { activity } : { activity: "awaiting-approval", asks: question.title };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function conversationOf(record: Fields): Pick<Reading, "nativeId" | "transcriptPath"> {
  const nativeId = textIn(record, "session_id");
  const path = textIn(record, "transcript_path");
  return {
    ...(nativeId !== null && UUID.test(nativeId) ? { nativeId } : {}),
    ...(path !== null && isAbsolute(path) && path.endsWith(".jsonl") ? { transcriptPath: path } : {}),
  };
}

/** What wakes the agent by itself is nobody's prompt. */
function startOf(record: Fields): Pick<Reading, "turn" | "background"> {
  const prompt = textIn(record, "prompt");
  const turn: TurnReading = { phase: "started", ...turnId(record) };
  if (prompt === null) return { turn };
  if (!isNotification(prompt)) return { turn: { ...turn, prompt } };
  return { turn: { ...turn, continues: true }, background: { ended: endedIn(prompt) } };
}

function workOf(event: "SubagentStart" | "SubagentStop", record: Fields): Content | null {
  const background = subagentReading(event, record);
  return background === null ? null : { background };
}

function endOf(record: Fields, known: Known): Content {
  const listed = runningIn(record);
  const running = listed === null ? null : holdingAt(listed, known.background);
  return {
    turn: { phase: "completed", ...turnId(record) },
    ...doing("idle", known),
    ...(running === null ? {} : { background: { running } }),
    ...(running === null || running.length === 0 ? {} : { note: `in the background: ${backgroundText(running)}` }),
  };
}

/** The hook tells no time: the transcript does, a moment before or after. */
function failedOf(record: Fields, known: Known): Content {
  const said = errorOfHook(record);
  const limits = limitOfError(said, {}, null);
  return {
    turn: { phase: "failed", ...turnId(record), error: errorOf(record), failure: failureOf(said) },
    ...doing("idle", known),
    ...(limits.length === 0 ? {} : { limits }),
  };
}

/** `error` is a word (rate_limit, server_error, unknown), the last message the text on the screen. */
function errorOf(record: Fields): string {
  const kind = textIn(record, "error");
  const text = textIn(record, "last_assistant_message");
  const said = text === null ? "Claude Code gave no reason" : stripTerminal(text).trim();
  return kind === null || kind === "unknown" ? said : `${said} (${stripTerminal(kind)})`;
}

function questionOf(record: Fields, askedAt: number): Content | null {
  const open = openQuestionOf(record);
  if (open !== null) return { activity: "awaiting-input", asks: open };
  const requested = approvalOf(record, askedAt);
  if (requested === null) return null;
  return {
    activity: "awaiting-approval",
    asks: requested.title,
    approval: { requested, concerns: concernsOf(record) },
  };
}

/** A tool that ran was allowed to. */
function settlementOf(record: Fields, known: Known): Content | null {
  if (openQuestionOf(record) !== null) return known.activity === "awaiting-input" ? { activity: "working" } : null;
  const hash = questionHash(record);
  const approval = known.approvals.find((open) => isAbout(open, hash));
  const background = movedIn(record);
  if (approval === undefined && background === null) return null;
  return {
    ...(approval === undefined ? {} : { approval: { settled: { id: approval.id, decision: "approved" } } }),
    ...(background === null ? {} : { background }),
  };
}

function turnId(record: Fields): { readonly id?: string } {
  const id = textIn(record, "prompt_id");
  return id === null ? {} : { id };
}
