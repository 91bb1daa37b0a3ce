/** What a transcript tells for a recovery: the newest prompt of the user, and the tool call that has no result. */
import type { Agent, TranscriptMessage } from "../../agent/contract.ts";
import type { SessionFiles } from "../../runtime/session-files.ts";
import type { Session } from "../../session/session.ts";

/** A long turn of tool calls, each with its result, may lie between a prompt and the end. */
const BYTES = 1_048_576;

/** The newest of its transcript, oldest first; throws why it cannot be read. Null: this agent keeps none. */
export async function newestMessages(
  session: Session,
  agent: Pick<Agent, "readMessages" | "impediment" | "capabilities">,
  files: Pick<SessionFiles, "readTail">,
): Promise<readonly TranscriptMessage[] | null> {
  if (agent.impediment !== undefined) throw new Error(agent.impediment);
  if (!agent.capabilities.transcript) return null;
  const { status, transcriptPath, reason } = session.watch.observability;
  if (transcriptPath === null || status === "lost") throw new Error(reason.replace(/\.$/, ""));
  const { lines } = await files.readTail(transcriptPath, { bytes: BYTES, since: null });
  return agent.readMessages(lines);
}

/** What Reeve itself says to a session begins so (fleet/wake-line.ts). */
const OWN = "[reeve]";

export function newestPrompt(messages: readonly TranscriptMessage[]): TranscriptMessage | null {
  return messages.findLast(({ role, text }) => role === "user" && text.trim() !== "" && !text.startsWith(OWN)) ?? null;
}

/**
 * The last tool call before this instant that had no result by then. What an
 * agent writes for it when it resumes the conversation is no result of the tool.
 */
export function unansweredCall(messages: readonly TranscriptMessage[], before: number): TranscriptMessage | null {
  const then = messages.filter(({ at }) => at === null || Date.parse(at) <= before);
  const answered = new Set(then.flatMap(({ role, tool }) => (role === "tool" && tool !== null ? [tool.id] : [])));
  const last = then.findLast(({ tool, role }) => role === "assistant" && tool !== null);
  return last !== undefined && !answered.has(last.tool?.id ?? null) ? last : null;
}
