/**
 * What runs in a session. An agent is pure: it plans launches, encodes input
 * and turns what it is shown (a hook's record, a transcript line, a screen)
 * into readings. It opens nothing, starts nothing and remembers nothing.
 */
import type { InputStep } from "../session/input.ts";
import type { ActivityStatus, Launch } from "../session/session.ts";
import type { Reading } from "../session/reading.ts";

export interface AgentCapabilities {
  /** Knows when a turn begins and ends. */
  readonly turns: boolean;
  /** Can continue an earlier conversation. */
  readonly resume: boolean;
  readonly transcript: boolean;
}

export interface LaunchContext {
  readonly sessionId: string;
  readonly launch: Launch;
  /** Continue this conversation; null starts a new one. */
  readonly resume: string | null;
  /** The session's own directory; `spool` below it is where hooks write. */
  readonly sessionDir: string;
  readonly spoolDir: string;
}

export interface LaunchPlan {
  /** Argument vector of the program. */
  readonly argv: readonly string[];
  /** Added to the session's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly nativeId: string | null;
  readonly transcript: TranscriptPlan | null;
  /** Why there is no transcript to read yet, or at all. */
  readonly observabilityReason: string;
}

export interface TranscriptPlan {
  readonly path: string;
}

/** One message of a conversation, the same form for every agent. */
export interface TranscriptMessage {
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly text: string;
  readonly at: string | null;
  readonly turn: number | null;
}

export interface Agent {
  readonly name: string;
  readonly capabilities: AgentCapabilities;
  /** How an orchestrator should wait for it. */
  readonly wait: "notification" | "poll";
  /** Environment variables that belong to one of its sessions and must not leak into another; `*` ends a prefix. */
  readonly sessionVariables: readonly string[];
  /** Throws a usage error when the launch makes no sense for this agent. */
  plan(context: LaunchContext): LaunchPlan;
  encode(message: { readonly text: string; readonly submit: boolean }): readonly InputStep[];
  /** Whether typing now reaches the agent as a message. */
  accepts(activity: ActivityStatus): boolean;
  readHook(record: unknown): Reading | null;
  /** One complete line of the transcript; null when it says nothing to a reader. */
  readTranscriptLine(line: string): TranscriptMessage | null;
}
