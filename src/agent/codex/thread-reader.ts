/**
 * Follows one thread through the app-server's notifications and turns them into
 * readings, in their order. Remembers what later notifications refer to: the
 * turn under way and the open questions. Other threads (the hidden ones that
 * make titles, subagents) are not read.
 */
import { stripTerminal } from "../../platform/terminal-text.ts";
import type { ApprovalRequest, Decision } from "../../session/approval.ts";
import { seenApprovalId } from "../../session/approval.ts";
import type { Reading, TurnReading } from "../../session/reading.ts";
import { errorText } from "./error-text.ts";
import { type Fields, fieldsOf, listOf, textOf } from "../../platform/json-fields.ts";
import { approvalOf, changesOf, type PlannedChange, type ProtocolApproval } from "./protocol-approval.ts";
import type { RequestId } from "./rpc.ts";
import { activityOf, itemPrompt, latestTimeOf, turnOf } from "./thread-state.ts";
import { protocolUsageOf } from "./token-usage.ts";

export interface ThreadReader {
  /** The answer to `thread/resume`: where it is now. */
  readSnapshot(response: Fields): void;
  /** The answer to `thread/read`, where `thread/resume` was refused, and why: of what was before only the status is known. */
  readUnfollowed(thread: Fields, why: string): void;
  /** Why what was before is not known; null once it is, or a turn since was told. */
  unfollowed(): string | null;
  /** By the last status: a turn is under way. */
  isActive(): boolean;
  readNotification(method: string, params: Fields): void;
  readRequest(method: string, params: Fields, id: RequestId): void;
  /** The turn under way. */
  activeTurn(): string | null;
  question(approvalId: string): ProtocolApproval | null;
  /** This client has answered: what it said is what counts, unless an item says otherwise. */
  noteAnswer(question: ProtocolApproval, decision: Decision): void;
  /** Nothing is said any more. */
  close(): void;
}

interface Answered {
  readonly question: ProtocolApproval;
  readonly timer: NodeJS.Timeout;
}

/**
 * An item that was declined is mostly, not always, completed as such within
 * milliseconds (0.166.0); one that was approved may work for hours. So silence
 * says nothing, and is not awaited for long.
 */
const VERDICT_MS = 300;

/** That something is asked is said right before the question itself (0.166.0): a request that this client does not get is not awaited for long. */
const QUESTION_MS = 1_000;

const ASK_IN_PANE = "Codex asks a question: answer it in its pane.";

export function createThreadReader(threadId: string, onReading: (reading: Reading) => void): ThreadReader {
  const questions = new Map<RequestId, ProtocolApproval>();
  /** Requests that are for a person to answer. */
  const inputs = new Set<unknown>();
  const verdicts = new Map<RequestId, Decision>();
  const changes = new Map<string, PlannedChange>();
  let answered: Answered | null = null;
  let unasked: NodeJS.Timeout | undefined;
  let turn: string | null = null;
  let unfollowed: string | null = null;
  let isActive = false;
  let isClosed = false;

  const say = (detail: string, said: Omit<Reading, "source" | "detail">): void => {
    if (!isClosed) onReading({ source: "protocol", detail, ...said });
  };

  function readTurn(detail: string, reading: TurnReading): void {
    if (reading.phase === "started") turn = reading.id ?? null;
    else if (turn === reading.id) turn = null;
    if (reading.phase !== "started") {
      changes.clear();
      inputs.clear();
    }
    say(detail, { activity: reading.phase === "started" ? "working" : "idle", turn: reading });
  }

  function readTurnChange(method: string, fields: Fields): void {
    const reading = turnOf(fields);
    if (reading !== null) readTurn(method, reading);
  }

  /** A turn whose end it has not stored yet is "interrupted" for the server, also while it is storing it (0.166.0, once). */
  function readLastTurn(fields: Fields): void {
    const reading = turnOf(fields);
    const detail = "thread/resume, last turn";
    if (reading?.phase === "started") readTurn(detail, reading);
    else if (reading !== null) say(detail, { turn: { ...reading, ...latestTimeOf(fields) }, isHistory: true });
  }

  function readStatus(status: Fields): void {
    const activity = activityOf(status);
    const detail = `thread status ${String(status["type"])}`;
    isActive = status["type"] === "active";
    clearTimeout(unasked);
    if (activity === "awaiting-approval" || activity === "awaiting-input") {
      unasked = setTimeout(() => sayUnasked(detail, activity), QUESTION_MS).unref();
      return;
    }
    // The end of the turn follows at once, and says more; so does what came of an answer.
    const isToldBetter = (activity === "idle" && turn !== null) || (activity === "working" && answered !== null);
    if (activity !== null && !isToldBetter) say(detail, { activity });
    if (activity === "idle" && unfollowed !== null && turn === null) sayUntoldEnd(detail, status);
  }

  /** How it ended may not be told any more: an interruption and an error are on the screen, and go before this. */
  function sayUntoldEnd(detail: string, status: Fields): void {
    const error = "Codex stopped with an error; its screen says which.";
    const end: TurnReading = status["type"] === "systemError" ? { phase: "failed", error } : { phase: "completed" };
    say(`${detail}; its history cannot be read`, { turn: end, isHistory: true });
  }

  /** It waits for somebody, and what it asks has not come. */
  function sayUnasked(detail: string, activity: "awaiting-approval" | "awaiting-input"): void {
    if (questions.size > 0 || inputs.size > 0) return;
    const id = seenApprovalId(turn ?? threadId);
    const requested: ApprovalRequest = {
      id,
      kind: "other",
      title: ASK_IN_PANE,
      subject: null,
      cwd: null,
      reason: null,
    };
    say(detail, {
      activity,
      asks: ASK_IN_PANE,
      ...(activity === "awaiting-approval" ? { approval: { requested } } : {}),
    });
  }

  function settle(decision: Decision | null): void {
    if (answered === null) return;
    const { question, timer } = answered;
    clearTimeout(timer);
    answered = null;
    say("serverRequest/resolved", { approval: { settled: { id: question.request.id, decision } } });
  }

  function readResolved(requestId: unknown): void {
    inputs.delete(requestId);
    const question = [...questions.values()].find((open) => open.requestId === requestId);
    if (question === undefined) return;
    settle(null);
    questions.delete(question.requestId);
    answered = { question, timer: setTimeout(() => settle(null), VERDICT_MS) };
    const early = verdicts.get(question.requestId);
    verdicts.delete(question.requestId);
    if (early !== undefined) settle(early);
  }

  /** The end of an item says how it was answered; it comes right before or after the word that it was. */
  function readVerdict(item: Fields): void {
    const verdict = answered?.question.verdict(item) ?? null;
    if (verdict !== null) settle(verdict);
    for (const question of questions.values()) {
      const early = question.verdict(item);
      if (early !== null) verdicts.set(question.requestId, early);
    }
  }

  function readItem(item: Fields, turnId: string | null): void {
    const id = textOf(item["id"]);
    const change = changesOf(item);
    if (id !== null && change !== null) changes.set(id, change);
    const prompt = itemPrompt(item);
    if (prompt === null || turnId === null) return;
    turn = turnId;
    say("item/started userMessage", { turn: { phase: "started", id: turnId, prompt } });
  }

  return {
    readSnapshot(response) {
      unfollowed = null;
      const thread = fieldsOf(response["thread"]);
      const path = textOf(thread["path"]);
      say("thread/resume", { nativeId: threadId, ...(path === null ? {} : { transcriptPath: path }) });
      readLastTurn(fieldsOf(listOf(fieldsOf(response["initialTurnsPage"])["data"])[0]));
      readStatus(fieldsOf(thread["status"]));
    },
    readUnfollowed(thread, why) {
      unfollowed = why;
      say(`thread/read; its history cannot be read: ${why}`, { nativeId: threadId });
      readStatus(fieldsOf(thread["status"]));
    },
    unfollowed: () => unfollowed,
    isActive: () => isActive,
    readNotification(method, params) {
      if (params["threadId"] !== threadId) return;
      if (method.startsWith("turn/")) unfollowed = null;
      switch (method) {
        case "thread/status/changed":
          readStatus(fieldsOf(params["status"]));
          return;
        case "turn/started":
        case "turn/completed":
          settle(null);
          readTurnChange(method, fieldsOf(params["turn"]));
          return;
        case "item/started":
          readItem(fieldsOf(params["item"]), textOf(params["turnId"]));
          return;
        case "item/completed":
          readVerdict(fieldsOf(params["item"]));
          return;
        case "serverRequest/resolved":
          readResolved(params["requestId"]);
          return;
        case "thread/tokenUsage/updated": {
          const total = fieldsOf(fieldsOf(params["tokenUsage"])["total"]);
          say(method, { usage: { kind: "total", usage: protocolUsageOf(total) } });
          return;
        }
        case "error":
          // What ends the turn comes with turn/completed; this one is tried again.
          if (params["willRetry"] === true) say(`error, will retry: ${errorText(params["error"])}`, {});
          return;
      }
    },
    readRequest(method, params, requestId) {
      if (params["threadId"] !== threadId) return;
      const question = approvalOf(method, params, requestId, changes);
      if (question !== null) {
        questions.set(requestId, question);
        const { request, concerns } = question;
        say(method, {
          activity: "awaiting-approval",
          asks: request.title,
          approval: { requested: request, concerns },
        });
      } else if (method === "item/tool/requestUserInput" || method === "mcpServer/elicitation/request") {
        inputs.add(requestId);
        const first = fieldsOf(listOf(params["questions"])[0]);
        const asks = textOf(first["question"]) ?? textOf(params["message"]);
        say(method, { activity: "awaiting-input", asks: asks === null ? ASK_IN_PANE : stripTerminal(asks) });
      }
    },
    activeTurn: () => turn,
    close() {
      isClosed = true;
      clearTimeout(unasked);
      clearTimeout(answered?.timer);
    },
    noteAnswer: ({ requestId }, decision) => void verdicts.set(requestId, decision),
    question: (approvalId) => [...questions.values()].find((open) => open.request.id === approvalId) ?? null,
  };
}
