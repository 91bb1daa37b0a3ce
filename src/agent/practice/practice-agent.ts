/**
 * The practice agent: a small program that comes with Reeve and behaves like a
 * coding agent (turns, approvals, a transcript, hooks) without a model behind
 * it, so that people can try Reeve and tests can play every case.
 */
import { join } from "node:path";
import { ReeveError } from "../../platform/reeve-error.ts";
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest } from "../../session/approval.ts";
import type { InputStep } from "../../session/input.ts";
import type { LimitReading } from "../../session/limit.ts";
import type { Reading } from "../../session/reading.ts";
import type { ActivityStatus } from "../../session/session.ts";
import type { Agent, Known, LaunchContext, LaunchPlan, TranscriptMessage } from "../contract.ts";
import { nativeIdOf } from "../native-id.ts";
import { isConversationId } from "./conversation-id.ts";
import { type HookLimit, type HookRecord, parseHookRecord, TEXT_LIMIT } from "./hook-record.ts";
import { parseTranscriptLine } from "./transcript-line.ts";

export function practiceAgent(programPath: string, nodePath: string): Agent {
  return {
    name: "practice",
    capabilities: { turns: true, confirms: true, transcript: true, steer: false },
    wait: "notification",
    canAdopt: true,
    program: null,
    sessionVariables: ["PRACTICE_CONVERSATION"],
    pathVariables: [],
    readAccount: ({ environment }) => environment["PRACTICE_ACCOUNT"] || "practice",
    plan: (context) => plan([nodePath, programPath], context),
    encode,
    promptLimit: TEXT_LIMIT,
    interrupt: [{ type: "key", key: "Escape" }],
    encodeAnswer: (_approval, decision) => [
      { type: "key", key: decision === "approved" ? "y" : "n" },
      { type: "key", key: "Enter" },
    ],
    shownOf: ({ title }) => [title],
    accepts: (activity) => ACCEPTS[activity],
    readHook,
    readLine: () => null,
    readMessages: (lines) => lines.map(readTranscriptLine).filter((message) => message !== null),
    readStatus: () => null,
    readOpenFiles: () => null,
    searchTranscript: () => null,
  };
}

/** The program would queue what is typed during a turn, out of Reeve's sight; so it waits in the mailbox instead. */
const ACCEPTS = {
  starting: false,
  working: false,
  idle: true,
  "awaiting-approval": true,
  "awaiting-input": true,
  unknown: true,
} as const satisfies Record<ActivityStatus, boolean>;

function plan(
  program: readonly string[],
  { sessionId, launch, resume, prompt, sessionDir, spoolDir }: LaunchContext,
): LaunchPlan {
  refuseNonsense(launch.args, launch.model, resume?.nativeId ?? null);
  const conversation = resume?.nativeId ?? nativeIdOf(sessionId);
  const transcript = join(sessionDir, "transcript.jsonl");
  const argv = [...program, "--conversation", conversation, "--transcript", transcript, "--spool", spoolDir];
  if (resume !== null) argv.push("--resume");
  argv.push(...launch.args);
  if (prompt !== null) argv.push("--", prompt);
  return {
    argv,
    environment: { PRACTICE_CONVERSATION: conversation },
    files: [],
    nativeId: conversation,
    transcriptPath: transcript,
    observabilityReason:
      "The transcript appears when the practice agent takes its first prompt; until then its screen is shown.",
    isPromptLeftOut: false,
    mode: {
      name: "hooks",
      text: "Reeve learns of turns and approvals from hooks, and of what was said from the transcript.",
    },
    channel: null,
    statusDir: null,
  };
}

function refuseNonsense(args: readonly string[], model: string | null, resume: string | null): void {
  const [option, pace, ...rest] = args;
  const onlyPace = option === "--pace" && pace !== undefined && /^\d{1,6}$/.test(pace) && rest.length === 0;
  if (args.length > 0 && !onlyPace) {
    throw new ReeveError({
      code: "arguments-unsupported",
      kind: "usage",
      message:
        "The practice agent takes only --pace MILLISECONDS after --, for example: reeve start practice -- --pace 200.",
    });
  }
  if (model !== null) {
    throw new ReeveError({
      code: "model-unsupported",
      kind: "usage",
      message: "The practice agent has no model to choose: leave --model out.",
    });
  }
  if (resume !== null && !isConversationId(resume)) {
    throw new ReeveError({
      code: "conversation-malformed",
      kind: "usage",
      message: "A practice conversation is named by a UUID in lower case: give the id the session shows as native_id.",
    });
  }
}

/** The program reads its terminal in order, so Enter needs no pause after the paste. */
function encode({ text, submit }: { readonly text: string; readonly submit: boolean }): readonly InputStep[] {
  const steps: InputStep[] = [];
  if (text !== "") steps.push({ type: "paste", text });
  if (submit) steps.push({ type: "key", key: "Enter" });
  return steps;
}

function readHook(value: unknown, known: Known): Reading | null {
  const record = parseHookRecord(value);
  if (record === null) return null;
  const { event, turn, conversation } = record;
  return { source: "hook", detail: `${event} hook, turn ${turn}`, nativeId: conversation, ...meaningOf(record, known) };
}

function meaningOf(
  { event, turn, text, failure, limit }: HookRecord,
  { approvals }: Known,
): Pick<Reading, "activity" | "asks" | "turn" | "approval" | "limits"> {
  const id = String(turn);
  switch (event) {
    case "session-start":
      return { activity: "idle" };
    case "turn-started":
      return { activity: "working", turn: { phase: "started", id, ...(text === undefined ? {} : { prompt: text }) } };
    case "approval-requested":
      return { approval: { requested: approvalOf(turn, text, approvals.length) } };
    case "approval-answered": {
      const decision = text === "yes" ? "approved" : "denied";
      // They are put in the order in which they were told of.
      return { approval: { settled: { id: approvals[0]?.id ?? null, decision } } };
    }
    case "turn-completed":
      return {
        activity: "idle",
        turn: { phase: "completed", id },
        ...(limit && { limits: [limitReading(limit, "ok", `${limit.usedPercent} % used`)] }),
      };
    case "turn-failed": {
      const error = stripTerminal(text ?? "The practice agent gave no reason.");
      return {
        activity: "idle",
        turn: { phase: "failed", id, error, ...(failure && { failure }) },
        ...(limit && { limits: [limitReading(limit, "rejected", error)] }),
      };
    }
    case "turn-interrupted":
      return { activity: "idle", turn: { phase: "interrupted", id } };
    case "session-end":
      // Whether the process is gone is for the runtime to say.
      return {};
  }
}

function limitReading(
  { name, usedPercent, resetsAt }: HookLimit,
  status: "ok" | "rejected",
  text: string,
): LimitReading {
  return { limit: name, status, usedPercent, resetsAt, confidence: resetsAt === null ? "none" : "stated", text };
}

function approvalOf(turn: number, text: string | undefined, openBefore: number): ApprovalRequest {
  const title = stripTerminal(text ?? "The practice agent asks for approval.");
  const id = openBefore === 0 ? `turn-${turn}` : `turn-${turn}-${openBefore + 1}`;
  const [, command = null] = /^Run "(.*)"\?$/s.exec(title) ?? [];
  return { id, kind: command === null ? "other" : "command", title, subject: command, cwd: null, reason: null };
}

const plain = { role: "system", tool: null, usage: null } as const;

function readTranscriptLine(raw: string): TranscriptMessage | null {
  const line = parseTranscriptLine(raw);
  if (line === null) return null;
  const { type, at } = line;
  switch (type) {
    case "user":
    case "assistant":
    case "tool":
      return { ...plain, role: type, text: line.text, at, turn: String(line.turn) };
    case "turn_failed":
      return { ...plain, text: `The turn failed: ${line.error}`, at, turn: String(line.turn) };
    case "turn_interrupted":
      return { ...plain, text: "The turn was interrupted.", at, turn: String(line.turn) };
    case "session":
      return line.resumed ? { ...plain, text: `Resumed; earlier turns: ${line.earlierTurns}.`, at, turn: null } : null;
    case "turn_started":
    case "turn_completed":
      return null;
  }
}
