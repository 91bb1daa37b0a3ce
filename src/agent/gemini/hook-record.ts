/**
 * What Gemini CLI's hooks say. BeforeAgent is the authority for the begin of a
 * turn, AfterAgent for its completion and its failure. After a cancelled
 * approval or tool no hook comes at all (0.61.0), so a cancelled turn ends when
 * this or the transcript first shows it.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { Reading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { approvalRequestOf, concernsOf } from "./approval-request.ts";
import { failureOf } from "./failure-of.ts";
import { userPathOf } from "./home-overlay.ts";
import { type Fields, fieldsOf, isFields, listOf, textIn } from "../../platform/json-fields.ts";
import { CANCELLED } from "./transcript-line.ts";

export function readHook(record: unknown, known: Known): Reading | null {
  if (!isFields(record)) return null;
  if (record["reeve"] === "gemini-conversation") return readNext(textIn(record, "session_id"), known);
  const hook = isFields(record["hook"]) ? record["hook"] : record;
  const event = textIn(hook, "hook_event_name");
  const session = textIn(hook, "session_id");
  if (event === null || session === null || session === "") return null;
  if (known.nativeId !== null && session !== known.nativeId && !isNewConversation(hook, known)) return null;
  const meaning = meaningOf(event, hook, listOf(record["notes"]), known);
  if (meaning === null) return null;
  return {
    source: "hook",
    detail: `${event} hook`,
    ...(session === known.nativeId ? {} : { nativeId: session }),
    ...whereabouts(event, hook, known),
    ...meaning,
  };
}

/** Of gemini-launch.sh, before gemini itself runs. */
function readNext(nativeId: string | null, known: Known): Reading | null {
  if (nativeId === null || nativeId === known.nativeId || !isNext(nativeId, known)) return null;
  const detail = "began a new conversation: there was nothing to resume in the earlier one";
  return { source: "supervisor", detail, nativeId };
}

function isNext(nativeId: string, known: Known): boolean {
  return known.nativeId !== null && nativeId.slice(8) === known.nativeId.slice(8);
}

/**
 * A gemini that the agent itself started inherits the session's home, and with
 * it these hooks. Ours has another id only after /clear, or from the start on,
 * where the planned one was taken: then it is one of those that follow it
 * (session-scripts.ts), while the others' are random.
 */
function isNewConversation(hook: Fields, known: Known): boolean {
  if (textIn(hook, "hook_event_name") !== "SessionStart") return false;
  const source = textIn(hook, "source");
  if (source !== "startup") return source === "clear";
  return isNext(textIn(hook, "session_id") ?? "", known) || (!known.turnOpen && known.lastVerdict === null);
}

function meaningOf(event: string, hook: Fields, notes: readonly unknown[], known: Known): Partial<Reading> | null {
  switch (event) {
    case "SessionStart":
      // It comes before the composer does, and while a log-in is asked for too: readiness is for the screen to say.
      return {};
    case "BeforeAgent": {
      const prompt = textIn(hook, "prompt");
      return {
        activity: "working",
        turn: { phase: "started", ...timeOf(hook), ...(prompt === null ? {} : { prompt }) },
      };
    }
    case "AfterAgent":
      return endOf(notes, timeOf(hook), known);
    case "Notification": {
      const requested = approvalRequestOf(hook);
      if (requested === null) return null;
      // Questions to a person come the same way, and yes is no answer to them.
      if (QUESTIONS.has(textIn(fieldsOf(hook["details"]), "type") ?? ""))
        return { activity: "awaiting-input", asks: requested.title };
      return {
        activity: "awaiting-approval",
        asks: requested.title,
        approval: { requested, concerns: concernsOf(hook) },
      };
    }
    default:
      return null;
  }
}

const QUESTIONS = new Set(["ask_user", "exit_plan_mode"]);

/** The script behind AfterAgent is slow enough for the next turn's BeforeAgent to overtake it. */
function timeOf(hook: Fields): { readonly at?: number } {
  const at = Date.parse(textIn(hook, "timestamp") ?? "");
  return Number.isNaN(at) ? {} : { at };
}

function endOf(notes: readonly unknown[], time: { readonly at?: number }, known: Known): Partial<Reading> | null {
  const said = notes.filter(isFields);
  if (said.some((note) => textIn(note, "content") === CANCELLED))
    return known.turnOpen ? { activity: "idle", turn: { phase: "interrupted", ...time } } : null;
  const error = said.find((note) => textIn(note, "type") === "error");
  if (error === undefined) return { activity: "idle", turn: { phase: "completed", ...time } };
  const content = textIn(error, "content");
  const failure = content === null ? "unknown" : failureOf(content);
  return { activity: "idle", turn: { phase: "failed", ...time, error: errorText(content), failure } };
}

/** `[API Error: {"error":{"code":400,"message":"…"}}]` as its message. */
export function errorText(content: string | null): string {
  if (content === null) return "Gemini CLI gave no reason.";
  const text = stripTerminal(content).replaceAll(/\s+/g, " ").trim();
  const message = /"message":"((?:\\.|[^"\\])+)"/.exec(text)?.[1];
  const code = /"code":(\d{3})\b/.exec(text)?.[1];
  const short = message === undefined ? text : code === undefined ? message : `${code}: ${message}`;
  return short.slice(0, 500);
}

/** At the start of a resumed conversation the path is that of an empty file beside it. */
function whereabouts(event: string, hook: Fields, known: Known): Pick<Reading, "transcriptPath"> {
  if (event === "SessionStart" && textIn(hook, "source") === "resume") return {};
  const path = textIn(hook, "transcript_path");
  if (path === null || !path.startsWith("/") || !path.endsWith(".jsonl")) return {};
  const transcriptPath = userPathOf(path, known.launch);
  return transcriptPath === known.transcriptPath ? {} : { transcriptPath };
}
