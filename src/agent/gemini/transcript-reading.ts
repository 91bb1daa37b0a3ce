/**
 * What a new line of the transcript says of the session: that a turn was
 * cancelled, how an approval was answered, what an answer cost, that a limit is
 * reached, that the conversation was compressed.
 *
 * Not that a turn began: after a cancelled tool the whole history is written
 * again as new lines with new ids (0.61.0), earlier prompts among them.
 */
import type { ApprovalReading, Reading } from "../../session/reading.ts";
import type { Known } from "../contract.ts";
import { limitsIn } from "./failure-of.ts";
import { CANCELLED, type GeminiMessage, parseTranscriptLine, type ToolCall } from "./transcript-line.ts";

export function readLine(line: string, known: Known): Reading | null {
  const parsed = parseTranscriptLine(line);
  if (parsed?.kind !== "message") return null;
  const { message } = parsed;
  switch (message.type) {
    case "info":
      if (COMPRESSED.test(message.text))
        return { source: "transcript", detail: "info line about a compression", compacted: timeOf(message) };
      return message.text === CANCELLED ? cancelled(message, known) : null;
    case "gemini":
      return withModel(message, message.toolCalls.length > 0 ? toolsDone(message, known) : answered(message));
    case "error":
      return refused(message);
    case "user":
    case "warning":
      return null;
  }
}

/**
 * It compressed by itself. Of `/compress` there is only an empty note, whatever came of it, and a history that is written
 * again, as with every resume (0.61.0): that proves nothing.
 */
const COMPRESSED = /^Context compressed from \d+% to \d+%\.$/;

/** Where a question was open still, nothing here tells whether it had been answered before the turn was stopped. */
function cancelled(message: GeminiMessage, known: Known): Reading | null {
  if (!known.turnOpen && known.approvals.length === 0) return null;
  const approval: ApprovalReading = { settled: { id: null, decision: null } };
  return {
    source: "transcript",
    detail: `"${CANCELLED}" line`,
    activity: "idle",
    ...(known.turnOpen ? { turn: { phase: "interrupted" as const, ...timeOf(message) } } : {}),
    ...(known.approvals.length > 0 ? { approval } : {}),
  };
}

/** What was written before the turn under way began is about another. */
function timeOf({ at }: GeminiMessage): { readonly at?: number } {
  const time = Date.parse(at ?? "");
  return Number.isNaN(time) ? {} : { at: time };
}

function refused(message: GeminiMessage): Reading | null {
  const limits = limitsIn(message.text, timeOf(message).at ?? null);
  return limits.length === 0 ? null : { source: "transcript", detail: "error line", limits };
}

/** The line of a message comes again, with the same usage, when its tools have run: counted is the first. */
function answered(message: GeminiMessage): Reading | null {
  if (message.usage === null) return null;
  return { source: "transcript", detail: "gemini line", usage: { kind: "added", usage: message.usage } };
}

/** "Auto" chooses another for each answer. Which mode it is in stands nowhere in the file (0.61.0). */
function withModel(message: GeminiMessage, reading: Reading | null): Reading | null {
  const { model } = message;
  if (model === null) return reading;
  return { source: "transcript", detail: "gemini line", ...reading, setup: { model, ...timeOf(message) } };
}

function toolsDone(message: GeminiMessage, known: Known): Reading | null {
  for (const approval of known.approvals) {
    const call = message.toolCalls.findLast((candidate) => isSubject(candidate, approval.subject));
    if (call === undefined) continue;
    const decision = DECISIONS[call.status] ?? null;
    const settled = { id: approval.id, decision };
    return { source: "transcript", detail: `tool call line, ${call.status}`, approval: { settled } };
  }
  return null;
}

/** `error` is a tool that ran and failed. A call that was stopped while it ran comes behind its CANCELLED line. */
const DECISIONS: Readonly<Record<string, "approved" | "denied" | undefined>> = {
  success: "approved",
  error: "approved",
  cancelled: "denied",
};

function isSubject(call: ToolCall, subject: string | null): boolean {
  if (subject === null) return false;
  const [tool = "", server = ""] = subject.split(" of ");
  return (
    call.input["command"] === subject ||
    call.input["file_path"] === subject ||
    // As approval-request.ts names a tool of an MCP server.
    call.name === `mcp_${server}_${tool}`
  );
}
