/**
 * What of an event goes into session_meta.log, and who did it. Pure: the same
 * events make the same lines, in whichever daemon
 * (docs/spec/session-directory.md).
 */
import { iso } from "../../platform/instant.ts";
import type { Surface } from "../../platform/surface.ts";
import { RESTART_POLICY_CODE } from "../../session/ask.ts";
import type { CallerName } from "../../session/caller.ts";
import type { EventType, LoggedEvent, SessionEvent } from "../../session/event.ts";

/** Null: nobody could see who it was. */
export type Actor = "operator" | `session:${string}` | `rule:${string}` | "agent" | "reeve" | "terminal" | null;

/** From where: how whoever did it through Reeve came to it, else what the actor is. Null: nobody could see that. */
type Via = Surface | "rule" | "agent" | "reeve" | "terminal" | null;

export interface MetaLine {
  readonly kind: string;
  readonly actor: Actor;
  readonly via: Via;
  readonly turn: number | null;
  readonly [field: string]: unknown;
}

/** Of the lines before, as far as the next one depends on them. */
export interface MetaState {
  /** The newest turn; null before the first. */
  readonly turn: number | null;
}

interface Doer {
  readonly actor: Actor;
  readonly via: Via;
}

export interface MetaContext {
  /** The newest event before this one that fits. */
  readonly before: (types: readonly Asked[], fits: Fits) => Promise<LoggedEvent | undefined>;
}
/** By which something came about that happens later. */
export type Asked =
  | "approval-requested"
  | "approval-settled"
  | "turn-started"
  | "restart-requested"
  | "end-requested"
  | "interrupt-requested"
  | "message-admitted";
type Fits = (body: LoggedEvent["body"]) => boolean;

const AGENT: Doer = { actor: "agent", via: "agent" };
const REEVE: Doer = { actor: "reeve", via: "reeve" };
const TERMINAL: Doer = { actor: "terminal", via: "terminal" };
const NOBODY_KNOWN: Doer = { actor: null, via: null };

/** The others are left out of the search. */
export const META_TYPES = [
  "turn-started",
  "approval-requested",
  "approval-settled",
  "turn-interrupted",
  "turn-failed",
  "turn-corrected",
  "message-refused",
  "end-cancelled",
  "mode-changed",
  "model-changed",
  "conversation-compacted",
  "session-starting",
  "session-exited",
  "session-errored",
  "session-stopped",
  "branch-changed",
  "branch-mismatched",
  "branch-restored",
  "capture-interrupted",
] as const satisfies readonly EventType[];

export async function metaLine(event: LoggedEvent, state: MetaState, context: MetaContext): Promise<MetaLine | null> {
  const body = event.body as SessionEvent;
  const { turn } = state;
  switch (body.type) {
    case "approval-requested": {
      const { id, title } = body.approval;
      return { kind: "approval-asked", ...AGENT, turn, approval_id: id, title };
    }
    case "approval-settled": {
      const { approvalId, decision, rule } = body;
      const isSame: Fits = (asked) => asked.type === "approval-requested" && asked.approval.id === approvalId;
      const asked = await context.before(["approval-requested"], isSame);
      const after_ms = asked === undefined ? null : Math.max(0, event.at - asked.at);
      const doer = settler(body);
      if (decision === null) return { kind: "approval-cancelled", ...doer, turn, approval_id: approvalId, after_ms };
      return {
        kind: "approval-answered",
        ...doer,
        turn,
        approval_id: approvalId,
        decision,
        after_ms,
        rule: rule ?? null,
      };
    }
    case "message-refused":
      if (body.reason.code !== "message-cancelled") return null;
      return { kind: "message-cancelled", ...asker(event), turn, message_id: body.messageId };
    case "end-cancelled":
      return { kind: body.type, ...asker(event), turn };
    case "turn-interrupted":
      return { kind: "interrupted", ...(await interrupter(body, context)), turn: body.turn };
    case "turn-failed":
      return failed(body.turn, body.error, body.failure);
    case "turn-corrected":
      if (body.verdict === "failed") return failed(body.turn, body.error ?? "", body.failure);
      return body.verdict === "interrupted" ? { kind: "interrupted", ...TERMINAL, turn: body.turn } : null;
    case "mode-changed":
    case "model-changed":
      return { kind: body.type, ...NOBODY_KNOWN, turn, from: body.from, to: body.to };
    case "conversation-compacted":
      return { kind: "compacted", ...AGENT, turn };
    case "session-starting": {
      if (body.incarnation === 1) return null;
      const doer = await starter(event, body, context);
      return { kind: "restarted", ...doer, turn, incarnation: body.incarnation, reason: body.reason.text };
    }
    case "session-exited":
    case "session-errored":
    case "session-stopped":
      if (body.type !== "session-exited" && body.isAfterExit === true) return null;
      return { kind: "ended", ...(await ender(body, context)), turn, reason: body.reason.text };
    case "branch-changed":
      return { kind: "branch-changed", ...NOBODY_KNOWN, turn, from: body.from, to: body.now };
    case "branch-mismatched":
      return { kind: "branch-changed", ...NOBODY_KNOWN, turn, from: body.declared, to: body.actual };
    case "branch-restored":
      return { kind: "branch-changed", ...NOBODY_KNOWN, turn, from: null, to: body.branch };
    case "capture-interrupted":
      return { kind: body.type, ...NOBODY_KNOWN, turn, from: iso(body.lastAt), to: iso(body.againAt) };
    default:
      return null;
  }
}

export function stateAfter(state: MetaState, { body }: LoggedEvent): MetaState {
  return body.type === "turn-started" ? { turn: body.turn } : state;
}

/** What the last line of the file says: enough to go on. */
export function stateOfLine(line: Readonly<Record<string, unknown>> | null): MetaState {
  return { turn: typeof line?.["turn"] === "number" ? line["turn"] : null };
}

function doerOf(by: CallerName | "pane" | "agent", via: Surface | undefined): Doer {
  if (by === "pane") return TERMINAL;
  if (by === "system") return REEVE;
  return by === "agent" ? AGENT : { actor: by, via: via ?? null };
}

/** Of what happens at once when it is asked for. */
function asker({ caller, via }: LoggedEvent): Doer {
  return doerOf(caller ?? "system", via);
}

function settler({ by, via, rule }: Extract<SessionEvent, { type: "approval-settled" }>): Doer {
  return rule === undefined ? doerOf(by, via) : { actor: `rule:${rule}`, via: "rule" };
}

/** Some agents end the turn when they are denied something: whoever denied it ended the turn. */
async function interrupter(
  { turn, timedOut, askedBy, messageId, evidence }: Extract<SessionEvent, { type: "turn-interrupted" }>,
  context: MetaContext,
): Promise<Doer> {
  if (timedOut !== undefined) return REEVE;
  if (askedBy !== undefined) {
    const isAsked: Fits = (body) =>
      messageId === undefined
        ? body.type === "interrupt-requested" && body.turn === turn
        : body.type === "message-admitted" && body.messageId === messageId;
    return doerOf(askedBy, (await context.before(["message-admitted", "interrupt-requested"], isAsked))?.via);
  }
  if (evidence.detail.startsWith("another turn ")) return AGENT;
  const last = (await context.before(["approval-requested", "approval-settled", "turn-started"], () => true))?.body;
  return last?.type === "approval-settled" && last.decision === "denied" ? settler(last) : TERMINAL;
}

function failed(turn: number, error: string, failure: string | undefined): MetaLine {
  return { kind: "turn-failed", ...AGENT, turn, error, failure: failure ?? null };
}

async function starter(
  event: LoggedEvent,
  { reason }: Extract<SessionEvent, { type: "session-starting" }>,
  context: MetaContext,
): Promise<Doer> {
  if (event.caller !== null) return asker(event);
  if (reason.code === RESTART_POLICY_CODE) return REEVE;
  // It was asked for while the process before it lived: that had to end first.
  const asked = await context.before(["restart-requested"], () => true);
  return doerOf(asked?.caller ?? "system", asked?.via);
}

/** One that nobody asked for is the agent's own. */
async function ender(
  { timedOut, askedBy }: Extract<SessionEvent, { type: "session-exited" | "session-errored" | "session-stopped" }>,
  context: MetaContext,
): Promise<Doer> {
  if (timedOut !== undefined) return REEVE;
  if (askedBy === undefined) return AGENT;
  return doerOf(askedBy, (await context.before(["end-requested", "restart-requested"], () => true))?.via);
}
