/**
 * The practice transcript: JSON lines, appended with one write each, never
 * rewritten. Like Claude Code's it does not exist before the first prompt.
 *
 *   {"type":"session","conversation":UUID,"resumed":BOOL,"earlierTurns":N,"at":ISO}
 *       once per process, before its first turn
 *   {"type":"turn_started","turn":N,"at":ISO}
 *   {"type":"user"|"assistant"|"tool","turn":N,"at":ISO,"text":TEXT}
 *   {"type":"turn_completed"|"turn_interrupted","turn":N,"at":ISO}
 *   {"type":"turn_failed","turn":N,"at":ISO,"error":TEXT}
 *
 * A turn number is used once in a file. If a process dies, its turn has no end
 * and its last line may be torn; the next process begins on a new line.
 */
export type TranscriptLine =
  | {
      readonly type: "session";
      readonly conversation: string;
      readonly resumed: boolean;
      readonly earlierTurns: number;
      readonly at: string;
    }
  | {
      readonly type: "turn_started" | "turn_completed" | "turn_interrupted";
      readonly turn: number;
      readonly at: string;
    }
  | {
      readonly type: "user" | "assistant" | "tool";
      readonly turn: number;
      readonly at: string;
      readonly text: string;
    }
  | { readonly type: "turn_failed"; readonly turn: number; readonly at: string; readonly error: string };

/** The line's content, or null for anything the program would not have written. */
export function parseTranscriptLine(line: string): TranscriptLine | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { type, turn, at, text, error, conversation, resumed, earlierTurns } = value as Record<string, unknown>;
  if (typeof at !== "string") return null;
  if (type === "session") {
    if (typeof conversation !== "string" || typeof resumed !== "boolean" || !isCount(earlierTurns)) return null;
    return { type, conversation, resumed, earlierTurns, at };
  }
  if (!isCount(turn)) return null;
  switch (type) {
    case "turn_started":
    case "turn_completed":
    case "turn_interrupted":
      return { type, turn, at };
    case "user":
    case "assistant":
    case "tool":
      return typeof text === "string" ? { type, turn, at, text } : null;
    case "turn_failed":
      return typeof error === "string" ? { type, turn, at, error } : null;
    default:
      return null;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
