/** Pieces of the app-server's protocol as readings: a thread's status, a turn, what it cost (0.166.0). */
import type { TurnReading } from "../../session/reading.ts";
import type { ActivityStatus } from "../../session/session.ts";
import { errorText } from "./error-text.ts";
import { failureOf } from "./failure-of.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "../../platform/json-fields.ts";
import { textOfInputs } from "./user-prompt.ts";

/** `{"type":"active","activeFlags":["waitingOnApproval"]}`. */
export function activityOf(status: Fields): ActivityStatus | null {
  switch (status["type"]) {
    case "idle":
    // What it is after a turn that failed; it takes prompts.
    case "systemError":
      return "idle";
    case "active": {
      const flags = listOf(status["activeFlags"]);
      if (flags.includes("waitingOnApproval")) return "awaiting-approval";
      return flags.includes("waitingOnUserInput") ? "awaiting-input" : "working";
    }
    default:
      return null;
  }
}

export function turnOf(turn: Fields): TurnReading | null {
  const id = textOf(turn["id"]);
  if (id === null) return null;
  switch (turn["status"]) {
    case "inProgress": {
      const prompt = promptOf(turn);
      return { phase: "started", id, ...(prompt === null ? {} : { prompt }) };
    }
    case "completed":
      return { phase: "completed", id };
    case "interrupted":
      return { phase: "interrupted", id };
    case "failed":
      return { phase: "failed", id, error: errorText(turn["error"]), failure: failureOf(fieldsOf(turn["error"])) };
    default:
      return null;
  }
}

/** Whole seconds, rounded down: it happened no later than this. */
export function latestTimeOf({ startedAt, completedAt }: Fields): { readonly at?: number } {
  const seconds = Math.max(countOf(startedAt), countOf(completedAt));
  return seconds === 0 ? {} : { at: seconds * 1_000 + 999 };
}

/** Of an item `{"type":"userMessage","content":[…]}`. */
export function itemPrompt(item: Fields): string | null {
  return item["type"] === "userMessage" ? textOfInputs(item["content"]) : null;
}

function promptOf(turn: Fields): string | null {
  for (const item of listOf(turn["items"])) {
    const prompt = itemPrompt(fieldsOf(item));
    if (prompt !== null) return prompt;
  }
  return null;
}
