/**
 * Of which kind a death is, where the process said it last: out of memory, or
 * an agent that does not start without a log-in. Its terminal is looked at
 * once, before the death is recorded: the restart policy wants to know.
 */
import type { Agent } from "../agent/contract.ts";
import type { Log } from "../platform/log.ts";
import { messageOf } from "../platform/reeve-error.ts";
import { stripTerminal } from "../platform/terminal-text.ts";
import type { Presence, Runtime } from "../runtime/contract.ts";
import { type FailureKind, failureOfLastWords } from "../session/failure.ts";
import { lastLine } from "../session/notice.ts";
import type { Session } from "../session/session.ts";
import { targetOf } from "./ledger/target.ts";

const LINES = 40;

/** Null: no more is known than how it ended. */
export async function deathKind(
  session: Session,
  { code, failure }: Extract<Presence, { status: "exited" }>,
  parts: { readonly runtime: Runtime; readonly agent: (name: string) => Agent; readonly log: Log },
): Promise<FailureKind | null> {
  if (failure !== undefined && session.wish.stop === null && session.process.exit === null) return failure;
  if (code === 0 || session.wish.stop !== null || session.process.exit !== null) return null;
  try {
    const { text } = await parts.runtime.capture(targetOf(session), { lines: LINES });
    return failureOfLastWords(text) ?? logInWanted(text, parts.agent(session.identity.agent));
  } catch (error) {
    parts.log("the last screen of a process could not be read", { session: session.id, why: messageOf(error) });
    return null;
  }
}

/** Only by its very last line: whatever stands above it may be a conversation. */
function logInWanted(text: string, { failureOf }: Agent): FailureKind | null {
  const line = lastLine(stripTerminal(text));
  return line !== null && failureOf?.(line) === "not-logged-in" ? "not-logged-in" : null;
}
