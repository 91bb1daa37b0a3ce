/** Turns lines of a transcript into what the index takes: messages, calls of tools, and what answers cost. Pure. */
import type { Agent, TranscriptMessage } from "../../agent/contract.ts";
import type { NewLine } from "../../platform/line-cursor.ts";
import type { Usage } from "../../session/reading.ts";
import type { Session } from "../../session/session.ts";
import type { Entry, UsageRow } from "../../search/contract.ts";
import { knownOf } from "../attention/known.ts";
import type { SafeText } from "./safe-text.ts";

export interface TranscriptStep {
  readonly entries: readonly Entry[];
  readonly usages: readonly UsageRow[];
  readonly total: Usage | null;
}

export function readStep(
  session: Session,
  agent: Agent,
  lines: readonly NewLine[],
  { total, safe }: { readonly total: Usage | null; readonly safe: SafeText },
): TranscriptStep {
  const messages = agent.readMessages(lines.map(({ text }) => text));
  const entries = messages.flatMap((message) => entryOf(session, message, safe) ?? []);
  const at = messages.map(timeOf).findLast((time) => time !== null) ?? session.conversation.lastActivityAt;
  return { entries, ...usagesIn(session, agent, lines, total, at ?? session.identity.createdAt) };
}

function entryOf(session: Session, message: TranscriptMessage, safe: SafeText): Entry | null {
  const { role, tool } = message;
  const isTool = tool !== null || role === "tool";
  if (isTool && role === "tool" && !safe.isKnown) return null;
  const text = safe.of([message.text, tool?.input ?? ""].filter((part) => part !== "").join("\n"));
  if (text.trim() === "" && tool === null) return null;
  return {
    kind: isTool ? "tool" : "message",
    sessionId: session.id,
    peer: null,
    agent: session.identity.agent,
    role: session.identity.role,
    at: timeOf(message) ?? session.conversation.lastActivityAt ?? session.identity.createdAt,
    who: tool === null ? role : safe.of(tool.name).slice(0, 100),
    ref: isTool ? (role === "tool" ? "result" : "call") : null,
    text,
  };
}

function timeOf({ at }: TranscriptMessage): number | null {
  const time = at === null ? Number.NaN : Date.parse(at);
  return Number.isNaN(time) ? null : time;
}

/** An agent tells what one answer cost, or what all of them did so far: of that, what is more than before counts. */
function usagesIn(
  session: Session,
  agent: Agent,
  lines: readonly NewLine[],
  totalBefore: Usage | null,
  at: number,
): Pick<TranscriptStep, "usages" | "total"> {
  const known = knownOf(session);
  let total = totalBefore;
  const usages = lines.flatMap(({ text }): readonly UsageRow[] => {
    const told = agent.readLine(text, known)?.usage;
    if (told === undefined) return [];
    const usage = told.kind === "added" ? told.usage : lessThan(told.usage, total);
    if (told.kind === "total") total = told.usage;
    return isNothing(usage) ? [] : [{ sessionId: session.id, at, usage }];
  });
  return { usages, total };
}

/** A total that shrank is that of another conversation. */
function lessThan(now: Usage, before: Usage | null): Usage {
  if (before === null || now.inputTokens < before.inputTokens || now.outputTokens < before.outputTokens) return now;
  const cost = now.costUsd === null ? null : now.costUsd - (before.costUsd ?? 0);
  return {
    inputTokens: now.inputTokens - before.inputTokens,
    cachedInputTokens: Math.max(0, now.cachedInputTokens - before.cachedInputTokens),
    outputTokens: now.outputTokens - before.outputTokens,
    costUsd: cost,
  };
}

function isNothing({ inputTokens, outputTokens, costUsd }: Usage): boolean {
  return inputTokens === 0 && outputTokens === 0 && (costUsd ?? 0) === 0;
}
