/**
 * What the practice program leaves behind of a conversation: a transcript line
 * first, then the hook, so that whoever is woken by the hook finds the line. If
 * the disk is full or missing, the conversation goes on and says so once.
 */
import { messageOf } from "../../platform/reeve-error.ts";
import type { FailureKind } from "../../session/failure.ts";
import { type HookEvent, type HookLimit, type HookRecord, TEXT_LIMIT } from "./hook-record.ts";
import { spoolWriter } from "./spool-writer.ts";
import { appendTranscriptLine, latestTurnIn } from "./transcript-writer.ts";
import type { TranscriptLine } from "./transcript-line.ts";

export interface JournalOptions {
  readonly conversation: string;
  readonly transcriptPath: string;
  readonly spoolDir: string;
  readonly resume: boolean;
  /** Told what could not be written, or read back. */
  readonly onTrouble: (message: string) => void;
}

export interface Journal {
  /** How many turns the transcript held when it was opened. */
  readonly earlierTurns: number;
  sessionStarted(): void;
  turnStarted(prompt: string): void;
  approvalRequested(question: string): void;
  approvalAnswered(approved: boolean): void;
  toolRan(text: string): void;
  turnCompleted(reply: string, limit?: HookLimit): void;
  turnFailed(error: string, failure: FailureKind, limit?: HookLimit): void;
  turnInterrupted(): void;
  sessionEnded(why: string): void;
}

export function openJournal(options: JournalOptions): Journal {
  const { conversation, transcriptPath, spoolDir, resume } = options;
  const spool = spoolWriter(spoolDir, process.pid);
  const troubles = new Set<string>();

  /** Each kind of trouble is told once: a full disk would otherwise fill the screen too. */
  function attempt<T>(what: string, fallback: T, action: () => T): T {
    try {
      return action();
    } catch (error) {
      if (!troubles.has(what)) {
        troubles.add(what);
        options.onTrouble(`${what}: ${messageOf(error)}`);
      }
      return fallback;
    }
  }

  const earlierTurns = attempt("The transcript cannot be read", 0, () => latestTurnIn(transcriptPath));
  let turn = earlierTurns;
  let opened = false;

  function line(content: TranscriptLine): void {
    attempt("The transcript cannot be written", undefined, () => appendTranscriptLine(transcriptPath, content));
  }
  function hook(event: HookEvent, text?: string, more: Pick<HookRecord, "failure" | "limit"> = {}): void {
    const record = {
      event,
      conversation,
      turn,
      at: now(),
      ...(text !== undefined && { text: text.slice(0, TEXT_LIMIT) }),
      ...more,
    };
    attempt("The hook record cannot be written", undefined, () => spool(record));
  }

  return {
    earlierTurns,
    sessionStarted: () => hook("session-start"),
    turnStarted(prompt) {
      if (!opened) line({ type: "session", conversation, resumed: resume, earlierTurns, at: now() });
      opened = true;
      turn++;
      line({ type: "turn_started", turn, at: now() });
      line({ type: "user", turn, at: now(), text: prompt });
      hook("turn-started", prompt);
    },
    approvalRequested: (question) => hook("approval-requested", question),
    approvalAnswered: (approved) => hook("approval-answered", approved ? "yes" : "no"),
    toolRan: (text) => line({ type: "tool", turn, at: now(), text }),
    turnCompleted(reply, limit) {
      line({ type: "assistant", turn, at: now(), text: reply });
      line({ type: "turn_completed", turn, at: now() });
      hook("turn-completed", undefined, limit && { limit });
    },
    turnFailed(error, failure, limit) {
      line({ type: "turn_failed", turn, at: now(), error });
      hook("turn-failed", error, { failure, ...(limit && { limit }) });
    },
    turnInterrupted() {
      line({ type: "turn_interrupted", turn, at: now() });
      hook("turn-interrupted");
    },
    sessionEnded: (why) => hook("session-end", why),
  };
}

function now(): string {
  return new Date().toISOString();
}
